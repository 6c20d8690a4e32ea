"""An assessment as a document: one view, HTML and PDF, and its display in notebooks."""
