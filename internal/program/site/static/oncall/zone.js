// Wall-clock time in any zone. Instants are Unix seconds; wall times are strings such as 2026-11-21T09:00:00.

export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const formats = new Map();
// The clock with 12 or 24 hours that the person chose.
export const hours = { 12: { hour12: true }, 24: { hourCycle: "h23" } }[document.body.dataset.clock];

function format(zone, options) {
  const key = zone + JSON.stringify(options);
  let f = formats.get(key);
  if (!f) {
    f = new Intl.DateTimeFormat(options.numeric ? "en-GB" : undefined, { ...options.fields, timeZone: zone, ...(options.numeric ? { hourCycle: "h23" } : options.fields.hour && hours) });
    formats.set(key, f);
  }
  return f;
}

const whole = {
  numeric: true,
  fields: { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" },
};

// valid reports whether the browser knows a zone.
export function valid(zone) {
  try {
    format(zone, whole);
    return true;
  } catch {
    return false;
  }
}

// wall returns the wall-clock time in the zone at an instant.
export function wall(at, zone) {
  const p = Object.fromEntries(
    format(zone, whole)
      .formatToParts(at * 1000)
      .map((x) => [x.type, x.value]),
  );
  return `${p.year.padStart(4, "0")}-${p.month}-${p.day}T${p.hour}:${p.minute}:${p.second}`;
}

const asUTC = (w) => Date.parse(w.length === 16 ? w + ":00Z" : w + "Z") / 1000;

// offset returns how far the zone's clocks are ahead of UTC at an instant, in seconds.
function offset(at, zone) {
  return asUTC(wall(at, zone)) - Math.floor(at);
}

// instant returns the instant of a wall-clock time in the zone. A time that is skipped or happens twice is read with the summer offset, so
// of a repeated time it is the first. Schedules use the same rule.
export function instant(wallTime, zone) {
  const utc = asUTC(wallTime);
  const offsets = [...new Set([offset(utc - 86400, zone), offset(utc + 86400, zone)])];
  const real = offsets.filter((o) => offset(utc - o, zone) === o);
  return utc - Math.max(...(real.length ? real : offsets));
}

// shift adds seconds to a wall-clock time, without regard to clock changes.
export function shift(wallTime, seconds) {
  return new Date((asUTC(wallTime) + seconds) * 1000).toISOString().slice(0, 19);
}

// label returns a zone with its present offset: "Europe/Berlin, UTC+1".
export function label(zone, at = Date.now() / 1000) {
  return zone === "UTC" ? "UTC" : `${zone.replaceAll("_", " ")}, UTC${signed(offset(at, zone))}`;
}

function signed(seconds) {
  const minutes = Math.round(Math.abs(seconds) / 60),
    h = Math.floor(minutes / 60),
    m = minutes % 60;
  return (seconds < 0 ? "−" : "+") + h + (m ? ":" + String(m).padStart(2, "0") : "");
}

// iso returns the offset of a zone at an instant as ±HH:MM.
export function iso(zone, at) {
  const o = Math.round(offset(at, zone) / 60),
    a = Math.abs(o);
  return (o < 0 ? "-" : "+") + String(Math.floor(a / 60)).padStart(2, "0") + ":" + String(a % 60).padStart(2, "0");
}

const day = { fields: { weekday: "short", day: "numeric", month: "short" } };
const dayAndYear = { fields: { ...day.fields, year: "numeric" } };
const clock = { fields: { hour: "2-digit", minute: "2-digit" } };

export function date(at, zone) {
  const thisYear = wall(Date.now() / 1000, zone).slice(0, 4) === wall(at, zone).slice(0, 4);
  return format(zone, thisYear ? day : dayAndYear).format(at * 1000);
}
export function time(at, zone) {
  return format(zone, clock).format(at * 1000);
}
export function stamp(at, zone) {
  return date(at, zone) + ", " + time(at, zone);
}

// face formats a time of day, such as 09:00, and wallStamp a wall time, in the reader's language.
export const face = (clock) => time(asUTC("2026-01-01T" + clock), "UTC");
export const wallStamp = (wallTime) => stamp(asUTC(wallTime.slice(0, 16)), "UTC");

// span formats a start and an end, without repeating the day.
export function span(start, end, zone) {
  const same = wall(start, zone).slice(0, 10) === wall(end - 1, zone).slice(0, 10);
  return `${stamp(start, zone)} – ${same ? time(end, zone) : stamp(end, zone)}`;
}

// length formats a duration: "7 d", "12 h 30 min".
export function length(seconds) {
  const minutes = Math.round(seconds / 60),
    d = Math.floor(minutes / 1440),
    h = Math.floor((minutes % 1440) / 60),
    m = minutes % 60;
  return [d && d + " d", h && h + " h", m && m + " min"].filter(Boolean).join(" ").replaceAll(" ", "\u00a0") || "0 min";
}

// away formats the time from now to an instant: "in 3 h", "2 d ago".
export function away(at, now = Date.now() / 1000) {
  const s = Math.abs(at - now);
  const text =
    s < 90 ? "1 min" : s < 5400 ? Math.round(s / 60) + " min" : s < 172800 ? Math.round(s / 3600) + " h" : Math.round(s / 86400) + " d";
  return at < now ? text + " ago" : "in " + text;
}

// zones lists the given zones and those that the browser knows.
export function zones(...more) {
  const known = Intl.supportedValuesOf ? Intl.supportedValuesOf("timeZone") : [];
  return [...new Set(["UTC", ...more.filter(Boolean), ...known])].sort();
}
