"""Short work on texts: compared, matched by wildcards, shown safely, and ids."""
