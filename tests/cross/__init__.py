"""Random fits beside the definition, and who judges them."""
