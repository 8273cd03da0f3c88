// Adds sorting and filtering to tables that can be read without it.
"use strict";

const cellValue = (row, index, kind) => {
  const cell = row.cells[index];
  if (kind === "number") {
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  }
  const text = cell.textContent.trim();
  return text === "" || text === "n/a" ? null : text;
};

const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function sortTable(table, index, kind, ascending) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, at) => ({ row, at: Number(row.dataset.at ?? at), value: cellValue(row, index, kind) }));
  const sign = ascending ? 1 : -1;
  rows.sort((a, b) => {
    // Missing values stand last in both directions; ties keep the page's own order.
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.at - b.at;
    const by = kind === "number" ? a.value - b.value : order.compare(a.value, b.value);
    return sign * by || a.at - b.at;
  });
  body.append(...rows.map((item) => item.row));
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  [...table.tBodies[0].rows].forEach((row, at) => { row.dataset.at = at; });
  heads.forEach((head, index) => {
    const kind = head.dataset.sort;
    if (!kind) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sorter";
    button.setAttribute("aria-label", `Sort by ${head.dataset.name}`);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const ascending = now ? now === "descending" : kind === "text" || index === 0;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sortTable(table, index, kind, ascending);
    });
    head.append(button);
  });
}

function makeFilterable(tools) {
  const table = document.getElementById(tools.dataset.for);
  const field = (name) => tools.querySelector(`[data-filter="${name}"]`);
  const [text, architecture, size] = [field("text"), field("architecture"), field("size")];
  const shown = tools.querySelector(".shown");
  const rows = [...table.tBodies[0].rows];
  const apply = () => {
    const wanted = text.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const keep =
        (wanted === "" || row.textContent.toLowerCase().includes(wanted)) &&
        (architecture.value === "" || row.dataset.architecture === architecture.value) &&
        (size.value === "" || row.dataset.size === size.value);
      row.hidden = !keep;
      count += keep;
    }
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length} shown`;
  };
  for (const control of [text, architecture, size]) control.addEventListener("input", apply);
  tools.hidden = false;
  apply();
}

for (const table of document.querySelectorAll("table.data")) {
  if (table.tHead.querySelector("th[data-sort]")) makeSortable(table);
}
for (const tools of document.querySelectorAll(".tools")) makeFilterable(tools);
