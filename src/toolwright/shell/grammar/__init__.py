"""The grammar of the shell: text in, statements out."""
