// Keys and views for the review pages. Every page works without it.
"use strict";

const main = document.querySelector("main.pair");
const note = document.querySelector(".decide textarea");
let sent = false;

function press(selector) {
  const target = document.querySelector(selector);
  if (target) target.click();
}

function setView(name) {
  main.dataset.view = name;
  delete main.dataset.shown;
  for (const link of document.querySelectorAll("[data-set]")) {
    if (link.dataset.set === name) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  for (const input of document.querySelectorAll("input[name=view]")) input.value = name;
  for (const link of document.querySelectorAll(".steps a")) {
    const address = new URL(link.href);
    address.searchParams.set("view", name);
    link.href = address.href;
  }
  history.replaceState(null, "", `?view=${name}`);
}

function swap() {
  if (main.dataset.view !== "flicker") setView("flicker");
  main.dataset.shown = main.dataset.shown === "base" ? "edited" : "base";
}

const KEYS = {
  a: () => press(".decide .accept"),
  r: () => press(".decide .reject"),
  u: () => press(".decide .unsure"),
  z: () => press(".undo button"),
  s: () => main && setView("side"),
  f: () => main && setView("flicker"),
  d: () => main && setView("difference"),
  n: () => note && note.focus(),
  " ": () => main && swap(),
  ArrowLeft: () => press(".steps a[rel=prev]"),
  ArrowRight: () => press(".steps a[rel=next]"),
  "?": () => {
    const help = document.getElementById("help");
    if (help) {
      help.open = !help.open;
      if (help.open) help.scrollIntoView({ block: "nearest" });
    }
  },
};

document.addEventListener("keydown", (event) => {
  if (event.target === note) {
    if (event.key === "Escape") note.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const action = Object.hasOwn(KEYS, key) ? KEYS[key] : null;
  if (!action || sent) return;
  event.preventDefault();
  action();
});

// One decision a page: a key pressed twice must not decide on the next pair as well.
document.addEventListener("submit", (event) => {
  if (sent) event.preventDefault();
  sent = true;
});
window.addEventListener("pageshow", () => { sent = false; });

for (const link of document.querySelectorAll("[data-set]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    setView(link.dataset.set);
  });
}

// The next pair's pictures, so that it is there at once.
if (main && main.dataset.next) {
  for (const address of main.dataset.next.split(" ")) new Image().src = address;
}
