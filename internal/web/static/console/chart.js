// Draws the charts of a page from their tables, with the colours of the theme. Without this script people read the tables.
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colours = () => ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6"].map(style);

function read(table) {
  const rows = [...table.tBodies[0].rows];
  const names = [...table.tHead.rows[0].cells].slice(1).map((c) => c.textContent);
  const times = rows.map((r) => r.cells[0].querySelector("time"));
  const labels = rows.map((r) => r.cells[0].textContent);
  const x = times[0] ? times.map((t) => new Date(t.dateTime) / 1000) : rows.map((_, i) => i);
  const series = names.map((_, i) => rows.map((r) => Number(r.cells[i + 1].textContent)));
  return { names, x, labels, series, timed: Boolean(times[0]) };
}

function draw(figure) {
  const plot = figure.querySelector(".plot"), table = figure.querySelector("table");
  if (!plot || !table || !window.uPlot) return;
  const { names, x, labels, series, timed } = read(table), colour = colours(), unit = figure.dataset.unit;
  const bars = figure.dataset.kind === "bar" ? window.uPlot.paths.bars({ size: [0.6 / 1, 48] }) : undefined;
  const axis = { stroke: style("--dim"), grid: { stroke: style("--line"), width: 1 }, ticks: { stroke: style("--line"), width: 1 } };
  const zone = document.body.dataset.zone || undefined;
  const options = {
    width: plot.clientWidth, height: 220,
    tzDate: zone ? (s) => window.uPlot.tzDate(new Date(s * 1000), zone) : undefined,
    scales: { x: { time: timed, range: timed ? undefined : [-0.5, x.length - 0.5] }, y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
    legend: { show: names.length > 1 },
    axes: [timed ? axis : { ...axis, splits: () => x, values: (_, at) => at.map((i) => labels[i] || "") },
      { ...axis, size: 60, values: (_, at) => at.map((v) => v + (unit ? " " + unit : "")) }],
    series: [{}, ...names.map((label, i) => ({ label, stroke: colour[i % colour.length], width: 2, points: { show: x.length < 40 },
      fill: bars && colour[i % colour.length], paths: bars }))],
  };
  plot.replaceChildren();
  return new window.uPlot(options, [x, ...series], plot);
}

function all() {
  for (const figure of document.querySelectorAll("figure.chart")) draw(figure);
}
addEventListener("load", all);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(all, 200); });
