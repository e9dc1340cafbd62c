// Draws the charts of a page from their tables, with the colours of the theme. Without this script people read the tables.
const probe = document.body.appendChild(Object.assign(document.createElement("i"), { hidden: true }));
// style returns the colour of a token in the theme that is shown.
function style(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
const colours = () => ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6"].map(style);
const drawn = new Map(); // figure -> chart
// The clock with 12 or 24 hours that the person chose.
const hours = { 12: { hour12: true }, 24: { hourCycle: "h23" } }[document.body.dataset.clock];

function read(table) {
  const rows = [...table.tBodies[0].rows];
  const names = [...table.tHead.rows[0].cells].slice(1).map((c) => c.textContent);
  const times = rows.map((r) => r.cells[0].querySelector("time"));
  const labels = rows.map((r) => r.cells[0].textContent);
  const x = times[0] ? times.map((t) => new Date(t.dateTime) / 1000) : rows.map((_, i) => i);
  const number = (cell) => (cell.textContent.trim() === "" ? null : Number(cell.textContent));
  const series = names.map((_, i) => rows.map((r) => number(r.cells[i + 1])));
  return { names, x, labels, series, timed: Boolean(times[0]) };
}

// Each series of a stack begins where the next one ends, so that the first one is drawn first and is the highest.
function stacked(series) {
  const sums = series.map((values) => [...values]);
  for (let i = sums.length - 2; i >= 0; i--) sums[i] = sums[i].map((v, at) => (v || 0) + (sums[i + 1][at] || 0));
  return sums;
}

const cut = (text, length) => (text.length > length ? text.slice(0, Math.max(1, length - 1)) + "…" : text);

// The texts below the places of a chart without times: as many as fit.
function labelled(labels, width) {
  const room = Math.max(1, Math.floor((width - 70) / Math.max(1, labels.length))), longest = Math.max(...labels.map((l) => l.length));
  const every = longest < 6 ? Math.ceil(34 / room) : 1;
  return (_, at) => at.map((i) => (i % every ? "" : cut(labels[i] || "", every > 1 ? 6 : Math.floor(room / 7))));
}

// The texts of instants: hours, and the day at midnight or where the places are days.
function instants(zone) {
  const hour = (clock) => new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", ...clock, timeZone: zone });
  const digits = hour({ hourCycle: "h23" }), own = hour(hours);
  const day = new Intl.DateTimeFormat([], { day: "numeric", month: "short", timeZone: zone });
  return (_, at, __, ___, step) =>
    at.map((s) => (step >= 86400 || digits.format(s * 1000) === "00:00" ? day : own).format(s * 1000));
}

// The tooltip of all charts: the place below the pointer, and the value of each series there.
const box = document.body.appendChild(Object.assign(document.createElement("div"), { className: "tip", hidden: true }));
function tip(texts) {
  const show = (u) => {
    const at = u.cursor.idx, where = u.over.getBoundingClientRect();
    box.hidden = at === null || at === undefined || u.cursor.left < 0;
    if (box.hidden) return;
    const [title, ...rows] = texts(at);
    box.replaceChildren(line("strong", title), ...rows.filter(([, value]) => value !== "").map(([name, value, colour]) => {
      const row = line("div", "");
      row.append(line("i", ""), name + ": ", line("b", value));
      row.firstChild.style.background = colour;
      return row;
    }));
    const left = where.left + u.cursor.left + 12, right = innerWidth - box.offsetWidth - 8;
    box.style.left = Math.max(8, left > right ? where.left + u.cursor.left - box.offsetWidth - 12 : left) + "px";
    box.style.top = Math.max(8, where.top + 8) + "px";
  };
  return { hooks: { setCursor: show, destroy: () => { box.hidden = true; } } };
}
function line(tag, text) {
  const el = document.createElement(tag);
  el.textContent = text;
  return el;
}

function draw(figure) {
  const plot = figure.querySelector(".plot"), table = figure.querySelector("details table");
  if (!plot || !table || !window.uPlot) return;
  drawn.get(figure)?.destroy();
  figure.classList.add("drawn"); // shows the plot, so that it has a width
  const { names, x, labels, series, timed } = read(table), colour = colours(), unit = figure.dataset.unit, kind = figure.dataset.kind;
  const width = plot.clientWidth, bars = kind === "bar" || kind === "stack" ? window.uPlot.paths.bars({ size: [0.7, 48] }) : undefined;
  const axis = { stroke: style("--dim"), font: "12px Inter, system-ui, sans-serif", grid: { show: false }, ticks: { show: false } };
  const zone = document.body.dataset.zone || undefined;
  const gap = x.length > 1 ? x[1] - x[0] : 3600;
  const when = (i) => (timed ? new Date(x[i] * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short", ...hours, timeZone: zone }) : labels[i]);
  const measured = (k, i) => (series[k][i] === null ? "" : series[k][i] + (unit ? " " + unit : ""));
  const options = {
    width, height: 220,
    tzDate: zone ? (s) => window.uPlot.tzDate(new Date(s * 1000), zone) : undefined,
    scales: { x: { time: timed, range: (_, low, high) => (bars || x.length < 2 ? [low - gap / 2, high + gap / 2] : [low, high]) },
      y: { range: (_, __, max) => [0, Math.max((max || 0) * 1.1, 1)] } },
    legend: { show: names.length > 1 || kind === "stack", live: false },
    cursor: { y: false, points: { show: !bars } },
    plugins: [tip((i) => [when(i), ...names.map((name, k) => [name, measured(k, i), colour[k % colour.length]])])],
    axes: [timed ? { ...axis, values: instants(zone) } : { ...axis, splits: () => x, values: labelled(labels, width) },
      { ...axis, size: 62, grid: { stroke: style("--line"), width: 1, dash: [2, 4] }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6], values: (_, at) => at.map((v) => v + (unit ? " " + unit : "")) }],
    series: [{}, ...names.map((label, i) => ({ label, stroke: colour[i % colour.length], width: bars ? 0 : 2, points: { show: !bars && x.length < 40 }, spanGaps: true,
      fill: bars && colour[i % colour.length], paths: bars }))],
  };
  drawn.set(figure, new window.uPlot(options, [x, ...(kind === "stack" ? stacked(series) : series)], plot));
}

function all() {
  for (const figure of document.querySelectorAll("figure.chart")) draw(figure);
}
if (document.readyState === "complete") all();
else addEventListener("load", all);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(all, 200); });
