"""Writers of a stream's health: ``adapter.on_health(CsvFile("health.csv"))``."""

from trimtab.monitor.csv_file import CsvFile
from trimtab.monitor.prometheus import PrometheusGauges
from trimtab.monitor.tensorboard import TensorBoard

__all__ = ["CsvFile", "PrometheusGauges", "TensorBoard"]
