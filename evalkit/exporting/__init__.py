"""An executed notebook as one HTML file in the dress of the report: the annex.

``jupyter nbconvert --to technical_assessment executed.ipynb`` finds the exporter by its entry
point. nbconvert's own HTML loads scripts from elsewhere and is not cleaned; this one holds neither.
"""

from __future__ import annotations

from evalkit.exporting.exporter import TechnicalAssessmentExporter

__all__ = ["TechnicalAssessmentExporter"]
