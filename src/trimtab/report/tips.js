"use strict";
// Numbers of what is pointed at, tapped or reached by keyboard: points, fields, and stretches of
// streams. Without this script the browser shows the titles of the drawings instead.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.append(tip);

  let shownAt = 0;
  const show = (content, left, top) => {
    shownAt = scrollY;
    tip.replaceChildren(...content);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const beside = left + 14 + width < innerWidth ? left + 14 : Math.max(4, left - 14 - width);
    tip.style.left = `${Math.min(beside, innerWidth - width - 4)}px`;
    tip.style.top = `${Math.max(4, Math.min(top + 14, innerHeight - height - 4))}px`;
  };
  const hide = () => { tip.hidden = true; };

  // Titles inside drawings become hints of our own, which come at once and also by touch.
  for (const title of all("svg > * title, svg g title")) {
    const part = title.parentElement;
    part.dataset.hint = title.textContent;
    part.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  const hinted = (event) => {
    const part = event.target.closest?.("[data-hint]");
    if (!part || part.closest("[data-curve]")) return false;
    show([part.dataset.hint], event.clientX, event.clientY);
    return true;
  };

  // A plot along a stream: the numbers of all lines in the stretch that is pointed at.
  const indexAt = (ends, sample) => {
    const found = ends.findIndex((end) => sample <= end);
    return found < 0 ? ends.length - 1 : found;
  };
  const entry = (name, look, words) => {
    const row = document.createElement("div");
    const swatch = document.createElement("i");
    swatch.className = `swatch ${look}`;
    const label = document.createElement("span");
    label.append(swatch, name);
    const value = document.createElement("b");
    value.textContent = words;
    row.append(label, value);
    return row;
  };
  const told = (data, sample) => {
    const { ends } = data.lines[0];
    const index = indexAt(ends, sample);
    const first = (index ? ends[index - 1] : 0) + 1;
    const domain = data.domains.find(([last]) => sample <= last);
    const head = document.createElement("p");
    const range = `samples ${first.toLocaleString("en")} to ${ends[index].toLocaleString("en")}`;
    head.textContent = domain ? `${domain[1]}, ${range}` : range;
    const rows = data.lines
      .map((line) => [line, line.values[indexAt(line.ends, sample)]])
      .sort(([, one], [, other]) => one - other)
      .map(([line, value]) => entry(line.name, line.look, `${value.toFixed(1)} %`));
    return [head, ...rows];
  };
  const cursorOf = (plot, at) => {
    let line = plot.querySelector(".cursor");
    if (!line) {
      line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      line.setAttribute("class", "cursor");
      line.setAttribute("y1", 22);
      line.setAttribute("y2", 172);
      plot.append(line);
    }
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
    line.style.display = "";
  };
  for (const plot of all("[data-curve]")) {
    const data = JSON.parse(plot.dataset.curve);
    const [start, end, samples] = data.frame;
    const width = plot.viewBox.baseVal.width;
    let sample = 0;
    const point = (x, y) => {
      const box = plot.getBoundingClientRect();
      const at = start + (sample / samples) * (end - start);
      cursorOf(plot, at);
      show(told(data, sample), x ?? box.left + (at / width) * box.width, y ?? box.top + 20);
    };
    const follow = (event) => {
      const box = plot.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      sample = Math.max(1, Math.min(samples, ((at - start) / (end - start)) * samples));
      point(event.clientX, event.clientY);
    };
    const leave = () => {
      hide();
      const line = plot.querySelector(".cursor");
      if (line) line.style.display = "none";
    };
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerdown", follow);
    plot.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") leave(); });
    plot.addEventListener("blur", leave);
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const { ends } = data.lines[0];
      const index = indexAt(ends, sample) + (sample ? step : 0);
      sample = ends[Math.max(0, Math.min(ends.length - 1, index))];
      point();
    });
  }

  addEventListener("pointerover", (event) => {
    if (!hinted(event) && !event.target.closest?.("[data-curve]")) hide();
  });
  addEventListener("pointerdown", (event) => {
    if (!hinted(event) && !event.target.closest?.("[data-curve]")) hide();
  });
  // Word of a scroll may come late, when something has been pointed at since.
  addEventListener("scroll", () => { if (scrollY !== shownAt) hide(); }, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
})();
