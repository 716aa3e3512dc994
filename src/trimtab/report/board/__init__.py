"""The leaderboard: results of several people on the same streams, checked and ranked."""
