"""Drawing for the command line and both conversations: lines, colours, Markdown as it comes, calls and questions."""
