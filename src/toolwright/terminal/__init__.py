"""What the command line and both conversations draw with: lines, colours, Markdown as it comes, calls and questions."""
