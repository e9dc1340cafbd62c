// Makes elements from data. Text always becomes a text node, so text of people is never parsed as HTML.

const properties = new Set(["value", "checked", "disabled", "hidden", "required", "selected", "open", "multiple", "readOnly"]);

// h makes an element. Properties that begin with "on" are event listeners; class is a string or a list; data is an object.
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || (value === false && !properties.has(key))) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (key === "class") el.className = Array.isArray(value) ? value.filter(Boolean).join(" ") : value;
    else if (key === "data") Object.assign(el.dataset, value);
    else if (key === "value" && (tag === "select" || tag === "textarea"))
      queueMicrotask(() => {
        el.value = value;
      });
    else if (properties.has(key)) el[key] = value;
    else el.setAttribute(key, value === true ? "" : value);
  }
  if (tag === "textarea" || tag === "option" || (tag === "input" && ["text", "search"].includes(el.type))) el.dir = "auto"; // people type in any language
  add(el, children);
  return el;
}

function add(el, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    el.append(child instanceof Node ? child : String(child));
  }
}

// bdi isolates the text direction of a name.
export const bdi = (text) => h("bdi", {}, text);

// isolated does the same with characters, for places without elements.
export const isolated = (text) => "\u2068" + text + "\u2069";

// initial returns the first letter of a text, which may be several characters.
export function initial(text) {
  const all = String(text);
  const first = Intl.Segmenter ? new Intl.Segmenter().segment(all)[Symbol.iterator]().next().value?.segment : [...all][0];
  return (first || "").toUpperCase();
}

// fill replaces the content of an element.
export function fill(el, ...children) {
  el.replaceChildren();
  add(el, children);
  return el;
}

// page returns the data of the server about the reader and the team.
export function page() {
  const el = document.getElementById("oncall"),
    d = el.dataset;
  return {
    el,
    team: d.team,
    teamZone: d.teamZone || "UTC",
    user: d.user,
    fullName: d.fullName || d.user,
    zone: d.zone,
    admin: "admin" in d,
    readOnly: "readOnly" in d,
  };
}

// announce announces a change to screen readers.
export function announce(text) {
  const el = document.getElementById("announce");
  if (el) el.textContent = text;
}

// flash shows a message above the page for 8 seconds. An error stays until the next message.
export function flash(text, bad = false) {
  document.getElementById("note")?.remove();
  const note = h(
    "div",
    { id: "note", class: ["flash", "note", bad ? "bad" : "good"], role: bad ? "alert" : "status" },
    h("span", {}, text),
    h("button", { type: "button", class: "link", "aria-label": "Dismiss", onclick: () => note.remove() }, "×"),
  );
  document.querySelector("main").prepend(note);
  if (!bad) setTimeout(() => note.remove(), 8000);
}

// problem describes an error. It adds a link that helps, if the error has one.
export function problem(e) {
  const { href, text } = e.help || {};
  return [e.text || String(e), href && [" ", h("a", { href, target: "_blank", rel: "noopener" }, text)]].filter(Boolean);
}

// ready draws the page. If that fails, it shows the error and a button to try again.
export async function ready(draw) {
  const el = document.getElementById("oncall");
  try {
    await draw();
  } catch (e) {
    fill(
      el,
      h(
        "div",
        { class: "flash bad", role: "alert" },
        e.text || String(e),
        " ",
        h("button", { type: "button", onclick: () => location.reload() }, "Try again"),
      ),
    );
    if (!e.text) throw e;
  } finally {
    el.removeAttribute("aria-busy");
  }
}

// working disables a button while run runs.
export async function working(button, run) {
  button.disabled = true;
  try {
    return await run();
  } finally {
    button.disabled = false;
  }
}

// lazy loads a script when it is needed. If that fails, it says why and returns undefined.
export async function lazy(load) {
  try {
    return await load();
  } catch {
    flash("Iris cannot be reached, or has a newer version. Reload the page and try again.", true);
  }
}

export function card(title, ...children) {
  return h("section", { class: "card" }, title && h("h2", {}, title), children);
}

// field returns a labelled control with a hint below it.
export function field(label, control, hint) {
  return h("label", { class: "field" }, h("span", {}, label), control, hint && h("span", { class: "hint" }, hint));
}

// removeButton is a small × at the end of a row.
export function removeButton(label, onclick) {
  return h("button", { type: "button", class: "small-button bad", "aria-label": label, onclick }, "×");
}

// shortList returns a list that shows its first items, and the others on request.
export function shortList(items, shown = 8) {
  const list = (some) => h("ul", { class: "plain" }, some);
  const more = items.slice(shown);
  return [list(items.slice(0, shown)), more.length > 0 && h("details", {}, h("summary", {}, `${more.length} more`), list(more))];
}

// leftOut lists on request what was not used of a calendar.
export function leftOut(all) {
  return (
    all.length > 0 &&
    h(
      "details",
      { class: "small" },
      h("summary", {}, "Left out: " + all.length),
      h(
        "ul",
        {},
        all.map((one) => h("li", {}, bdi(one))),
      ),
    )
  );
}

// options returns the options of a select. list has values or pairs [value, text].
export function options(list, chosen) {
  return list.map((o) => {
    const [value, text] = Array.isArray(o) ? o : [o, o];
    return h("option", { value, selected: String(value) === String(chosen) }, text);
  });
}

export function table(head, rows, empty) {
  if (!rows.length) return h("div", { class: "empty" }, empty);
  return h(
    "table",
    { class: "stacks" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.map((t) => h("th", { scope: "col", class: t.startsWith("#") ? "num" : undefined }, t ? t.replace(/^#/, "") : h("span", { class: "unseen" }, "Actions"))),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map((cells) =>
        h(
          "tr",
          {},
          cells.map((c, i) =>
            h(
              "td",
              { class: head[i].startsWith("#") ? "num" : head[i] ? undefined : "act", "data-label": head[i].replace(/^#/, "") },
              typeof c === "string" ? bdi(c) : c,
            ),
          ),
        ),
      ),
    ),
  );
}
