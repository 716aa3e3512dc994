"""What one hostile stream says of a method, with and without a guard."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from trimtab.reproduce.study import Record

Way = Literal["plain", "guarded"]

STRETCH_SAMPLES = 1000
RECOVERED = 5.0
"""Points above the source, at most, over two batches of clean images."""
CURVE_BATCHES = 4


@dataclass(frozen=True)
class HarmScores:
    """Numbers read off a record of ``studies/harm.py``; errors are points above the source's."""

    record: Record

    def whole(self, way: Way) -> float | None:
        """Over all scored samples of the stream."""
        return self._change(way, slice(None))

    def stretch(self, way: Way) -> float | None:
        """Over the worst stretch of 1,000 scored samples, or the whole where there are fewer."""
        scored, lost = self.record["scored"], self._lost(way)
        if sum(scored) <= STRETCH_SAMPLES:
            return self.whole(way)
        counts, sums = [0, *accumulate(scored)], [0, *accumulate(lost)]
        worst, first = None, 0
        for last in range(1, len(counts)):
            while counts[last] - counts[first + 1] >= STRETCH_SAMPLES:
                first += 1
            if counts[last] - counts[first] >= STRETCH_SAMPLES:
                found = 100 * (sums[last] - sums[first]) / (counts[last] - counts[first])
                worst = found if worst is None else max(worst, found)
        return worst

    def afterwards(self, way: Way) -> float | None:
        """Over the clean images at the end."""
        return self._change(way, self._clean)

    def recovery(self, way: Way) -> float:
        """Samples of the clean end before two batches are as good as the source's."""
        lost, scored = self._lost(way)[self._clean], self.record["scored"][self._clean]
        seen = 0
        for place in range(len(lost)):
            pair = slice(place, place + 2)
            if 100 * sum(lost[pair]) <= RECOVERED * sum(scored[pair]):
                return float(seen)
            seen += scored[place]
        return float(seen)

    @property
    def alarms(self) -> int:
        """How often the guard fell back."""
        return int(self.record["alarms"][-1])

    @property
    def fell_back(self) -> bool:
        return any(self.record["source_predicts"])

    @property
    def gain_lost(self) -> float | None:
        """Points that the guard costs where the method is better than the source without it; 0
        where it is not."""
        plain, guarded = self.whole("plain"), self.whole("guarded")
        if plain is None or guarded is None:
            return None
        return guarded - plain if plain < 0 else 0.0

    @property
    def cost(self) -> float:
        """Passes with a guard as a multiple of those without, after its first looks."""
        return float(self.record["guarded_passes"] / self.record["plain_passes"])

    @property
    def story(self) -> str:
        """What the guard did, in words."""
        flags = [0, *self.record["source_predicts"]]
        scored = [0, *accumulate(self.record["scored"])]
        changes = [
            f"{'the source predicts' if flags[n] else 'adapted again'} from {scored[n]} on"
            for n in range(1, len(flags))
            if flags[n] != flags[n - 1]
        ]
        return f"The guard: {'; '.join(changes)}." if changes else "The guard did not act."

    def curves(self) -> dict[str, list[tuple[float, float]]]:
        """Error in % along the stream, by way; scored samples count."""
        scored = self.record["scored"]
        names = {"source": "source", "plain": "without guard", "guarded": "with guard"}
        drawn = {}
        for key, name in names.items():
            points, seen = [], 0
            for start in range(0, len(scored), CURVE_BATCHES):
                part = slice(start, start + CURVE_BATCHES)
                count = sum(scored[part])
                seen += count
                if count:
                    points.append((float(seen), 100 * sum(self.record[key][part]) / count))
            drawn[name] = points
        return drawn

    @property
    def _clean(self) -> slice:
        """Batches of the clean end, where every sample is scored."""
        left, count = self.record["clean_samples"], 0
        for scored in reversed(self.record["scored"]):
            if left <= 0:
                break
            left, count = left - scored, count + 1
        return slice(len(self.record["scored"]) - count, None)

    def _lost(self, way: Way) -> list[int]:
        pairs = zip(self.record[way], self.record["source"], strict=True)
        return [own - source for own, source in pairs]

    def _change(self, way: Way, part: slice) -> float | None:
        scored = sum(self.record["scored"][part])
        return 100 * sum(self._lost(way)[part]) / scored if scored else None
