"""Test-time adaptation itself: a frozen backbone, components, and the loop along one stream."""
