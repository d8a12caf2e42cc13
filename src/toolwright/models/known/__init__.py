"""Models as they are known: the catalogue, their limits and prices, how each is best asked."""
