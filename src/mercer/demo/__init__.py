"""What kernel PCA can do, on data that everybody has: the study and the page of ``mercer demo``."""
