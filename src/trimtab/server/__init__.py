"""Model server (Open Inference Protocol v2) whose models adapt to each client's stream."""
