"""Universal test-time adaptation for PyTorch."""
