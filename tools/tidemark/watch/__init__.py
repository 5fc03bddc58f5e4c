"""The live view of a machine: its records (model), their source (sources), text (draw, table), and the screen (app)."""
