"""The web: addresses judged before anything is sent, pages fetched within limits, searches."""
