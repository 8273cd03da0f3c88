// Sorting, filtering, picking columns, copying: additions to pages that can be read without them.
"use strict";

const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const toNumber = (text) => {
  const value = Number.parseFloat(text.replace("\u2212", "-").replace(/[,\s]/g, ""));
  return Number.isNaN(value) ? null : value;
};

function cellValue(row, index, kind) {
  const cell = row.cells[index];
  const text = cell.textContent.trim();
  if (kind !== "number") return text === "" || text === "n/a" ? null : text;
  return cell.dataset.value === undefined ? toNumber(text) : Number(cell.dataset.value);
}

// Out of the page while its rows move: in it every move costs time for all of them.
function reorder(table, rows) {
  const [body] = table.tBodies;
  const after = body.nextSibling;
  body.remove();
  body.replaceChildren(...rows);
  table.insertBefore(body, after);
}

function sortTable(table, index, kind, ascending) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, at: Number(row.dataset.at), value: cellValue(row, index, kind) }));
  const sign = ascending ? 1 : -1;
  rows.sort((a, b) => {
    // Missing values stand last in both directions; ties keep the page's own order.
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.at - b.at;
    const by = kind === "number" ? a.value - b.value : order.compare(a.value, b.value);
    return sign * by || a.at - b.at;
  });
  reorder(table, rows.map((item) => item.row));
}

// Gives every sortable head a button; sort(key, ascending) does the same for an address.
function makeSortable(table, changed = () => {}) {
  const heads = [...table.tHead.rows[0].cells];
  [...table.tBodies[0].rows].forEach((row, at) => { row.dataset.at = at; });
  const first = heads.map((head) => head.getAttribute("aria-sort"));
  let moved = false;
  const sortBy = (head, ascending) => {
    moved = true;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    sortTable(table, heads.indexOf(head), head.dataset.sort, ascending);
  };
  heads.forEach((head, index) => {
    const kind = head.dataset.sort;
    if (!kind) return;
    const button = make("button", { type: "button", class: "sorter", "aria-label": `Sort by ${head.dataset.name}` });
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const small = kind === "text" || index === 0 || head.dataset.direction === "down";
      const ascending = now ? now === "descending" : small;
      sortBy(head, ascending);
      changed(head.dataset.key, ascending);
    });
    head.append(button);
  });
  return (key, ascending) => {
    const head = heads.find((each) => each.dataset.key === key && each.dataset.sort);
    if (head) return sortBy(head, ascending);
    if (!moved) return;
    moved = false;
    heads.forEach((each, index) => (first[index] ? each.setAttribute("aria-sort", first[index]) : each.removeAttribute("aria-sort")));
    reorder(table, [...table.tBodies[0].rows].sort((a, b) => a.dataset.at - b.dataset.at));
  };
}

// What the reader chose, kept in the address after "#", so that it can be sent to someone.
const state = {
  read() {
    const text = location.hash.slice(1);
    return new URLSearchParams(text.includes("=") ? text : "");
  },
  write(values) {
    const pairs = Object.entries(values).filter(([, value]) => value);
    // of a list the commas may stay: they make an address easier to read
    const text = new URLSearchParams(pairs).toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
    if (text === "" && !location.hash.includes("=")) return;
    history.replaceState(null, "", text ? `#${text}` : "#");
  },
};

function columnPicker(table, holder, changed) {
  const heads = [...table.tHead.rows[0].cells];
  const boxes = new Map();
  const show = (index, shown) => {
    for (const part of [table.tHead, ...table.tBodies, ...(table.tFoot ? [table.tFoot] : [])]) {
      for (const row of part.rows) if (row.cells[index]) row.cells[index].hidden = !shown;
    }
  };
  heads.forEach((head, index) => {
    if (!head.dataset.key || index < 2) return;
    const box = make("input", { type: "checkbox", checked: "" });
    box.addEventListener("change", () => { show(index, box.checked); changed(); });
    boxes.set(head.dataset.key, { box, index });
    holder.append(make("label", {}, box, ` ${head.dataset.name}`));
  });
  return {
    hidden: () => [...boxes].filter(([, { box }]) => !box.checked).map(([key]) => key).join(","),
    hide(keys) {
      for (const [key, { box, index }] of boxes) {
        const shown = !keys.includes(key);
        if (box.checked !== shown) { box.checked = shown; show(index, shown); }
      }
    },
  };
}

// Rows laid out at once: of thousands the others wait until they are asked for.
const FIRST = 200;

function makeBoard(tools) {
  const table = document.getElementById(tools.dataset.for);
  const rows = [...table.tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, `${row.cells[1].textContent} ${row.dataset.id} ${row.dataset.architecture ?? ""}`.toLowerCase()]));
  const fields = new Map([...tools.querySelectorAll("[data-filter]")].map((field) => [field.dataset.filter, field]));
  const [shown, reset, more] = [".shown", "[data-reset]", "[data-all]"].map((name) => tools.querySelector(name));
  let [sorted, whole] = ["", false];

  const matches = (row, key, value) =>
    key === "judges" ? (row.dataset.judges ?? "").split("|").includes(value) : row.dataset[key] === value;
  const filter = () => {
    const wanted = fields.get("q").value.trim().toLowerCase();
    const chosen = [...fields].filter(([key, field]) => key !== "q" && field.value !== "");
    let count = 0;
    for (const row of table.tBodies[0].rows) {
      const keep = (wanted === "" || texts.get(row).includes(wanted)) && chosen.every(([key, field]) => matches(row, key, field.value));
      count += keep;
      row.hidden = !keep || (count > FIRST && !whole);
    }
    table.classList.add("whole");
    const [found, all] = [count.toLocaleString("en"), rows.length.toLocaleString("en")];
    const cut = count > FIRST && !whole;
    more.hidden = !cut;
    more.textContent = `Show all ${found}`;
    shown.textContent = cut ? `first ${FIRST} of ${found}` : count === rows.length ? "" : `${found} of ${all} shown`;
  };
  const save = () => {
    const values = { sort: sorted };
    for (const [key, field] of fields) values[key] = field.value;
    values.hide = picker.hidden();
    values.compare = comparison ? comparison.chosen().join(",") : "";
    reset.hidden = !Object.values(values).some(Boolean);
    state.write(values);
  };
  const picker = columnPicker(table, tools.querySelector(".choices"), save);
  const sort = makeSortable(table, (key, ascending) => { sorted = `${key}:${ascending ? "asc" : "desc"}`; filter(); save(); });
  const section = document.getElementById("compare");
  const comparison = section && window.assayCompare ? window.assayCompare(section, table, save) : null;
  const load = () => {
    const from = state.read();
    for (const [key, field] of fields) {
      field.value = from.get(key) ?? "";
      if (field.value !== (from.get(key) ?? "")) field.value = "";
    }
    sorted = from.get("sort") ?? "";
    const [key, way] = sorted.split(":");
    sort(key, way === "asc");
    picker.hide((from.get("hide") ?? "").split(","));
    if (comparison) comparison.choose((from.get("compare") ?? "").split(",").filter(Boolean));
    reset.hidden = [...from].length === 0;
    filter();
  };
  for (const field of fields.values()) field.addEventListener("input", () => { filter(); save(); });
  more.addEventListener("click", () => { whole = true; filter(); });
  reset.addEventListener("click", () => { history.replaceState(null, "", "#"); load(); });
  addEventListener("hashchange", load);
  tools.hidden = false;
  load();
}

function makeCopyable(block) {
  const button = make("button", { type: "button", class: "copy", "aria-label": `Copy ${block.dataset.copy}` }, "Copy");
  const said = make("span", { class: "hidden-text", role: "status" });
  button.addEventListener("click", async () => {
    const text = block.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      said.textContent = "Copied";
    } catch {
      // without the clipboard the text is at least selected
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2500);
  });
  block.after(button, said);
}

// On long boards the exact value is not written into every cell; it is given when asked for.
addEventListener("mouseover", (event) => {
  const cell = event.target instanceof Element ? event.target.closest("td[data-value]") : null;
  if (cell && !cell.title) cell.title = cell.dataset.value;
});

// A wide table shows at its edge that there is more of it.
function markEdge(scroller) {
  const look = () => scroller.classList.toggle("more-right", scroller.scrollWidth - scroller.clientWidth - scroller.scrollLeft > 2);
  scroller.addEventListener("scroll", look, { passive: true });
  const observer = new ResizeObserver(look);
  for (const part of [scroller, ...scroller.children]) observer.observe(part);
}

addEventListener("DOMContentLoaded", () => {
  const boards = [...document.querySelectorAll(".tools")];
  const own = new Set(boards.map((tools) => tools.dataset.for));
  boards.forEach(makeBoard);
  for (const table of document.querySelectorAll("table.data")) {
    if (!own.has(table.id) && table.tHead?.querySelector("th[data-sort]")) makeSortable(table);
  }
  document.querySelectorAll(".copyable").forEach(makeCopyable);
  document.querySelectorAll(".scroller").forEach(markEdge);
});
