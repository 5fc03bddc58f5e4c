"""The live view of a machine: what has come (model), where from (sources), as text (draw, table), on a screen (app)."""
