// Two to four entries of a board side by side, and concept by concept.
"use strict";

const MOST = 4;
const loaded = new Map();
window.assayConcepts = (document_) => loaded.set(document_.id, document_);

const fixed = (value, digits) => {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
};
// the page's own rule: more digits only where it would show as 0
const rounded = (value, digits = 3) => {
  for (let more = digits; more <= 6; more += 1) if (Number(value.toFixed(more)) !== 0) return fixed(value, more);
  return fixed(value, digits);
};

window.assayCompare = (section, table, changed) => {
  const rows = new Map([...table.tBodies[0].rows].map((row) => [row.dataset.id, row]));
  const boxes = new Map();
  const [tray, body] = [document.querySelector("[data-tray]"), section.querySelector(".compare-body")];
  const [said, open, clear] = [tray.querySelector(".tray-names"), tray.querySelector("[data-compare]"), tray.querySelector("[data-clear]")];
  const spreads = section.dataset.ends === "spreads";
  let picked = [];
  let turn = 0;

  const name = (id) => rows.get(id).cells[1].querySelector("a").textContent;
  const page = (id) => rows.get(id).cells[1].querySelector("a").getAttribute("href");
  const show = () => {
    for (const [id, box] of boxes) {
      box.checked = picked.includes(id);
      box.disabled = !box.checked && picked.length >= MOST;
    }
    tray.hidden = picked.length === 0;
    open.disabled = picked.length < 2;
    said.textContent = picked.length < 2 ? `${picked.map(name).join("")}: pick another to compare` : `${picked.length} of at most ${MOST} picked`;
    if (picked.length < 2) section.hidden = true;
  };
  const set = (ids) => { picked = ids; show(); };

  for (const [id, row] of rows) {
    const box = make("input", { type: "checkbox", "aria-label": `Compare ${name(id)}` });
    box.addEventListener("change", () => {
      set(box.checked ? [...picked, id] : picked.filter((other) => other !== id));
      if (!section.hidden) draw();
      changed();
    });
    boxes.set(id, box);
    row.cells[1].append(make("label", { class: "pick", title: "Compare" }, box));
  }

  const head = (first, ids, last) =>
    make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "name" }, first),
      ...ids.map((id) => make("th", { scope: "col", class: "num" }, make("a", { href: page(id) }, make("bdi", {}, name(id))))),
      ...last.map((text) => make("th", { scope: "col", class: "num" }, text))));
  const framed = (grid, id, caption, extra = "") => {
    grid.prepend(make("caption", { id }, caption));
    const scroller = make("div", { class: `scroller ${extra}`, role: "region", "aria-labelledby": id, tabindex: "0" }, grid);
    markEdge(scroller);
    return scroller;
  };

  const scores = () => {
    const heads = [...table.tHead.rows[0].cells];
    const lines = [];
    heads.forEach((th, index) => {
      if (index < 2 || th.dataset.sort !== "number") return;
      const cells = picked.map((id) => rows.get(id).cells[index]);
      const values = cells.map((cell) => (cell.dataset.value === undefined ? null : Number(cell.dataset.value)));
      if (values.every((value) => value === null)) return;
      const way = th.dataset.direction;
      const best = way === undefined ? -1 : winner(cells, values, way);
      const line = make("tr", {}, make("th", { scope: "row", class: "name" }, th.dataset.name));
      cells.forEach((cell, at) => {
        const shown = make("td", { class: at === best ? "num best" : "num" });
        for (const part of cell.querySelectorAll(".v, .ci")) shown.append(make("span", { class: part.classList.contains("ci") ? "ci" : "v" }, part.textContent));
        line.append(shown);
      });
      if (picked.length === 2) line.append(way === undefined ? make("td", {}) : difference(cells, values));
      lines.push(line);
    });
    const last = picked.length === 2 ? ["First − second"] : [];
    return framed(make("table", { class: "data side" }, head("Score", picked, last), make("tbody", {}, ...lines)), "compare-scores",
      `Bold: the ${picked.length === 2 ? "better" : "best"} value, where its ${spreads ? "range" : "interval"} lies apart from ${picked.length === 2 ? "the other" : "all others"}; nothing is bold where the order is not settled.${spreads ? " In brackets the resampling spread of a divergence, which may lie above it; its range holds the value too and begins at 0 inside the null." : ""}`);
  };
  const ends = (cell) => {
    const [low, high] = (cell.querySelector(".ci")?.textContent ?? "").replace(/[[\]]/g, "").split(",").map(toNumber);
    if (!spreads || low === null || high === undefined) return [low, high];
    const value = Number(cell.dataset.value);
    return [cell.querySelector(".null.inside") ? 0 : Math.min(low, value), Math.max(high, value)];
  };
  const known = ([low, high]) => low !== null && low !== undefined && high !== null && high !== undefined;
  // the place of the value whose interval lies apart from all others, on the better side; else -1
  const winner = (cells, values, way) => {
    const there = values.flatMap((value, at) => (value === null ? [] : [at]));
    if (there.length < 2) return -1;
    const sign = way === "up" ? 1 : -1;
    const best = there.reduce((a, b) => (sign * values[b] > sign * values[a] ? b : a));
    const own = ends(cells[best]);
    const clear = there.every((at) => {
      if (at === best) return true;
      const other = ends(cells[at]);
      if (!known(own) || !known(other)) return false;
      return way === "up" ? other[1] < own[0] : own[1] < other[0];
    });
    return clear ? best : -1;
  };
  const difference = (cells, values) => {
    const cell = make("td", { class: "num" });
    if (values.includes(null)) { cell.append("n/a"); return cell; }
    const digits = Math.max(...cells.map((one) => (one.querySelector(".v").textContent.split(".")[1] ?? "").length));
    cell.append(make("span", { class: "v" }, rounded(values[0] - values[1], digits)));
    const [[a, b], [c, d]] = cells.map(ends);
    if (known([a, b]) && known([c, d])) {
      cell.append(make("span", { class: "ci" }, `${spreads ? "ranges" : "intervals"} ${a <= d && c <= b ? "meet" : "apart"}`));
    }
    return cell;
  };

  const fetchConcepts = (id) => new Promise((done, failed) => {
    if (loaded.has(id)) { done(); return; }
    const script = make("script", { src: `${section.dataset.scripts}${id}.js` });
    script.addEventListener("load", () => { script.remove(); loaded.has(id) ? done() : failed(new Error(id)); });
    script.addEventListener("error", () => { script.remove(); failed(new Error(id)); });
    document.head.append(script);
  });
  const concepts = (key) => {
    const names = JSON.parse(section.dataset.concepts);
    const lines = names.map((concept, at) => {
      const values = picked.map((id) => loaded.get(id)[key][at] ?? null);
      const known = values.filter((value) => value !== null);
      const apart = known.length < 2 ? null : picked.length === 2 ? values[0] - values[1] : Math.max(...known) - Math.min(...known);
      return { concept, values, apart };
    });
    lines.sort((a, b) => (a.apart === null) - (b.apart === null) || Math.abs(b.apart) - Math.abs(a.apart) || order.compare(a.concept, b.concept));
    const cell = (value) => make("td", { class: "num" }, value === null ? "n/a" : rounded(value));
    return make("tbody", {}, ...lines.map(({ concept, values, apart }) =>
      make("tr", {}, make("th", { scope: "row", class: "name" }, make("bdi", {}, concept)), ...values.map(cell), cell(apart))));
  };
  const perConcept = () => {
    const last = picked.length === 2 ? "First − second" : "Largest − smallest";
    const grid = make("table", { class: "data compact" }, head("Concept", picked, [last]), concepts("f1"));
    const select = make("select", {}, make("option", { value: "f1" }, "F₁ held-out"), make("option", { value: "add" }, "δ added"), make("option", { value: "rem" }, "δ removed"));
    select.addEventListener("input", () => grid.tBodies[0].replaceWith(concepts(select.value)));
    return [make("h3", {}, "Concept by concept"), make("div", { class: "tools inline" }, make("label", {}, "Number ", select)),
      framed(grid, "compare-concepts", "Where they differ most stands first.", "tall")];
  };

  const draw = async () => {
    const now = ++turn;
    section.hidden = false;
    body.replaceChildren(scores());
    if (!section.dataset.scripts) return;
    try {
      await Promise.all(picked.map(fetchConcepts));
      if (now === turn) body.append(...perConcept());
    } catch {
      if (now === turn) body.append(make("p", { class: "hint" }, "The numbers by concept do not lie beside this page."));
    }
  };
  open.addEventListener("click", () => { draw(); section.scrollIntoView(); section.querySelector("h2").focus({ preventScroll: true }); });
  clear.addEventListener("click", () => { set([]); changed(); });
  return {
    chosen: () => picked,
    choose(ids) {
      const known = [...new Set(ids)].filter((id) => rows.has(id)).slice(0, MOST);
      if (known.join() === picked.join()) return;
      set(known);
      if (known.length > 1) draw();
    },
  };
};
