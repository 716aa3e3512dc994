"use strict";
// Tables: a head sorts, a field filters.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // The head of each column: of several rows of heads, the lowest that is above it.
  const headsOf = (table) => {
    const heads = [], taken = [];
    [...table.tHead.rows].forEach((row, line) => {
      let column = 0;
      for (const cell of row.cells) {
        while (taken[line]?.[column]) column += 1;
        for (let down = 0; down < cell.rowSpan; down += 1) {
          for (let right = 0; right < cell.colSpan; right += 1) {
            (taken[line + down] ??= [])[column + right] = true;
            if (cell.colSpan === 1) heads[column + right] = cell;
          }
        }
        column += cell.colSpan;
      }
    });
    return heads;
  };

  // A number if the cell begins with one, else its words; what has neither is always last.
  const valueOf = (cell) => {
    const words = (cell?.textContent ?? "").trim().replaceAll("−", "-");
    const number = words.match(/^[+-]?\d[\d,]*(\.\d+)?/);
    if (number) return Number(number[0].replaceAll(",", ""));
    return /^[–✕]|^$/.test(words) ? null : words.toLowerCase();
  };
  const compare = (one, other) => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    return String(one).localeCompare(String(other));
  };

  const sort = (table, column, direction) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
    const empty = rows.filter(([value]) => value === null);
    const filled = rows.filter(([value]) => value !== null);
    filled.sort(([one], [other]) => direction * compare(one, other));
    body.append(...[...filled, ...empty].map(([, row]) => row));
  };

  for (const table of all("table[data-sortable]")) {
    headsOf(table).forEach((head, column) => {
      if (!head || head.hasAttribute("data-unsorted")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") === "ascending";
        for (const other of all("[aria-sort]", table)) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "descending" : "ascending");
        sort(table, column, up ? -1 : 1);
      });
    });
  }

  for (const field of all("[data-filter]")) {
    const place = document.getElementById(field.dataset.filter);
    const told = document.createElement("output");
    field.after(told);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const parts = all("tbody tr, article", place);
      for (const part of parts) {
        const text = part.textContent.toLowerCase();
        part.hidden = !words.every((word) => text.includes(word));
      }
      const left = parts.some((part) => !part.hidden);
      told.textContent = left || !words.length ? "" : "nothing has these words";
    });
  }
})();
