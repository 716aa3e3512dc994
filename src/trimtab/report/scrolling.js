"use strict";
// What is wider than its place says so: a shade and an arrow where there is more.
(() => {
  for (const box of document.querySelectorAll(".scrolling, .legend, nav, .panels, .film")) {
    const frame = document.createElement("div");
    frame.className = "more";
    box.before(frame);
    frame.append(box);
    const look = () => {
      const left = box.scrollWidth - box.clientWidth;
      frame.classList.toggle("right", box.scrollLeft < left - 2);
      frame.classList.toggle("left", box.scrollLeft > 2);
    };
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box);
    if (box.firstElementChild) new ResizeObserver(look).observe(box.firstElementChild);
  }
})();
