// A client of the JSON APIs. Requests have the cookie of the session and its CSRF token.

let token = tokenOf(document);

function tokenOf(doc) {
  return doc.querySelector('meta[name="csrf-token"]')?.content || "";
}

// Failure is an error answer. Its text is for the reader.
export class Failure extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.text = detail && title && !detail.startsWith(title) ? title + ": " + detail : detail || title;
  }
}

// path escapes the values in a template: path`/teams/${name}/rosters`.
export function path(parts, ...values) {
  return parts.reduce((all, part, i) => all + encodeURIComponent(values[i - 1]) + part);
}

// query returns "?a=b&a=c". A list repeats its key; empty values are left out.
export function query(values) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(values)) {
    for (const one of Array.isArray(v) ? v : [v]) if (one !== undefined && one !== null && one !== "") q.append(k, one);
  }
  const s = q.toString();
  return s ? "?" + s : "";
}

const loginPage = () => "/login/?next=" + encodeURIComponent(location.pathname + location.search);

// renew fetches the token of the browser's current session. It returns false without a session. It also returns false if the session
// belongs to another person than the page, so that nobody saves the changes of somebody else.
async function renew() {
  const resp = await fetch(location.pathname, { credentials: "same-origin", cache: "no-store" });
  const doc = new DOMParser().parseFromString(await resp.text(), "text/html");
  const fresh = tokenOf(doc);
  if (!resp.ok || !fresh || fresh === token) return false;
  if (doc.getElementById("oncall")?.dataset.user !== document.getElementById("oncall").dataset.user) return false;
  token = fresh;
  return true;
}

// ended handles a request that was refused for lack of a session. The request changed nothing, so it can be sent again after a log-in.
// If nothing was entered, the log-in page opens. Otherwise the reader stays on the page and logs in in another tab.
async function ended(method, again) {
  if (await renew().catch(() => false)) return again();
  if (method === "GET" && !document.querySelector("dialog[open]")) location.assign(loginPage());
  const failure = new Failure(
    401,
    "Your session has ended",
    "nothing was saved, and what you entered is still here. Log in in another tab as the same person, then try again.",
  );
  failure.help = { href: loginPage(), text: "Log in (another tab)" };
  throw failure;
}

async function call(method, url, body, options = {}) {
  const { type = "application/json", match, tagged, last } = options;
  let resp;
  try {
    resp = await fetch(url, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      headers: {
        "X-CSRF-TOKEN": token,
        Accept: "application/json",
        ...(body === undefined ? {} : { "Content-Type": type }),
        ...(match && { "If-Match": match }),
      },
      body: body === undefined || type !== "application/json" ? body : JSON.stringify(body),
    });
  } catch {
    throw new Failure(0, "No connection to Iris", "The change may or may not have been saved. Check the connection and try again. What you entered is still here.");
  }
  const text = await resp.text();
  let value = null;
  if (text) {
    try {
      value = JSON.parse(text);
    } catch {
      value = text;
    }
  }
  if (resp.ok) return tagged ? { value, tag: resp.headers.get("ETag") } : value;
  if (resp.status === 401 && !last) return ended(method, () => call(method, url, body, { ...options, last: true }));
  throw new Failure(resp.status, problemTitle(resp.status, value), problemDetail(value));
}

function problemTitle(status, value) {
  if (status === 503) return "Iris cannot reach its database";
  return value?.title && value.title !== "IntegrityError"
    ? value.title
    : value?.description || value?.detail
      ? ""
      : "Iris answered " + status;
}

// problemDetail reads Oncall's shape (description) and RFC 9457's (detail, errors by field).
function problemDetail(value) {
  if (!value || typeof value !== "object") return "";
  const fields = (value.errors || []).map((e) => [e.field || e.pointer, e.detail || e.message].filter(Boolean).join(": "));
  return [value.description || value.detail, ...fields].filter(Boolean).join("; ");
}

// v0 is Oncall's API, v1 is the API of Iris. see reads an object with its ETag. put and remove with that ETag fail if somebody else has
// changed the object meanwhile. list reads the items of the first page of a list of /v1.
function client(base) {
  return {
    get: (p) => call("GET", base + p),
    list: (p) => call("GET", base + p).then((page) => page.items),
    see: (p) => call("GET", base + p, undefined, { tagged: true }),
    post: (p, body, match) => call("POST", base + p, body, { match }),
    put: (p, body, match) => call("PUT", base + p, body, { match }),
    remove: (p, match) => call("DELETE", base + p, undefined, { match }),
    calendar: (p, text, method = "PUT") => call(method, base + p, text, { type: "text/calendar" }),
  };
}
export const v0 = client("/api/v0");
export const v1 = client("/v1");

// iso returns an instant in Unix seconds as /v1 has it. seconds is its inverse.
export const iso = (at) => new Date(at * 1000).toISOString();
export const seconds = (text) => Date.parse(text) / 1000;

// timed returns an object of /v1 with its start and end in Unix seconds.
export const timed = (o) => ({ ...o, start: seconds(o.start), end: seconds(o.end) });

// walk returns a value with the instants of all its objects converted.
function walk(value, convert) {
  if (Array.isArray(value)) return value.map((v) => walk(v, convert));
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [k, v !== null && ["start", "end", "until", "created", "decided"].includes(k) ? convert(v) : walk(v, convert)]),
  );
}

// dated returns a body of an edit, whose instants are Unix seconds, as /v1 has it. undated returns an answer with Unix seconds.
export const dated = (body) => walk(body, iso);
export const undated = (answer) => walk(answer, seconds);

// orNone returns none if the answer of the promise is "not found".
export async function orNone(promise, none) {
  try {
    return await promise;
  } catch (e) {
    if (e.status === 404) return none;
    throw e;
  }
}
