"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Colours: the system decides until the reader does. A browser may forbid to remember it.
  const remembered = (action) => { try { return action(); } catch { return null; } };
  const chosen = remembered(() => localStorage.getItem("trimtab-theme"));
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  document.querySelector(".theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remembered(() => localStorage.setItem("trimtab-theme", root.dataset.theme));
  });

  // The number that the tables show.
  for (const button of all("[data-show]")) {
    button.addEventListener("click", () => {
      for (const other of all("[data-show]")) other.setAttribute("aria-pressed", other === button);
      for (const part of all("[data-metric]")) {
        part.hidden = part.dataset.metric !== button.dataset.show;
      }
    });
  }

  // A cell's runs, in front of the page.
  const dialog = document.querySelector("dialog");
  const shown = dialog.querySelector(".shown");
  for (const link of all("[data-cell]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const copy = document.querySelector(link.getAttribute("href")).cloneNode(true);
      copy.removeAttribute("id");
      shown.replaceChildren(copy);
      dialog.showModal();
      dialog.scrollTop = 0;
    });
  }
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  // Copying a command; where the clipboard is closed, it is marked for the reader to copy.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Marked";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });

  // One method at a time: pointing at it for a moment, a tap until the next tap.
  let pinned = null;
  const focus = (name) => {
    for (const part of all("[data-method]")) {
      part.classList.toggle("pale", name !== null && part.dataset.method !== name);
      part.classList.toggle("clear", name !== null && part.dataset.method === name);
    }
  };
  for (const button of all("[data-focus]")) {
    button.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") focus(button.dataset.focus);
    });
    button.addEventListener("pointerleave", () => focus(pinned));
    button.addEventListener("click", () => {
      pinned = pinned === button.dataset.focus ? null : button.dataset.focus;
      for (const other of all("[data-focus]")) {
        other.setAttribute("aria-pressed", other.dataset.focus === pinned);
      }
      focus(pinned);
    });
  }
})();
