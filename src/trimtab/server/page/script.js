"use strict";
const at = id => document.getElementById(id);
const PAGE = 50;
let token = sessionStorage.getItem("trimtab-token") || "";
let model = "";
let shown = PAGE;

async function ask(path, verb = "GET", body = undefined) {
  const headers = token ? {Authorization: `Bearer ${token}`} : {};
  const answer = await fetch(path, {method: verb, headers, body: body && JSON.stringify(body)});
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error), {status: answer.status});
  return told;
}

function say(text, bad = false) {
  at("status").textContent = text;
  at("status").classList.toggle("bad", bad);
}

function draw(id, lines, now, top = 0) {
  const svg = at(id), width = svg.clientWidth || 400, height = svg.clientHeight || 140;
  const left = 44, bottom = 16, span = 300;
  const most = Math.max(top, ...lines.flatMap(line => line.points.map(point => point[1]))) || 1;
  const x = t => left + (width - left - 4) * (1 - (now - t) / span);
  const y = v => 8 + (height - bottom - 8) * (1 - v / most);
  const parts = [0, .5, 1].map(share => {
    const level = y(most * share);
    return `<line class="grid" x1="${left}" x2="${width}" y1="${level}" y2="${level}"></line>` +
      `<text x="${left - 6}" y="${level + 4}" text-anchor="end">${short(most * share)}</text>`;
  });
  parts.push(`<text x="${left}" y="${height - 2}">−5 min</text>`);
  parts.push(`<text x="${width - 4}" y="${height - 2}" text-anchor="end">now</text>`);
  for (const line of lines) {
    const path = line.points.filter(point => now - point[0] <= span)
      .map((point, place) => `${place ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[1]).toFixed(1)}`);
    if (path.length) parts.push(`<path class="${line.kind}" d="${path.join("")}"></path>`);
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.innerHTML = parts.join("");
}

function short(value) {
  if (value >= 10000) return `${Math.round(value / 1000)}k`;
  return value >= 10 || value === 0 ? String(Math.round(value)) : value.toFixed(2);
}

function filled(seconds, now) {
  const known = new Map(seconds.map(second => [second.at, second]));
  const last = Math.floor(now) - 1, found = [];
  for (let t = last - 299; t <= last; t++) found.push([t, known.get(t) ? known.get(t).samples : 0]);
  return found;
}

function tiles(live) {
  const last = Math.floor(live.now) - 1;
  const recent = live.seconds.filter(second => second.at > last - 5 && second.at <= last);
  const sum = (rows, key) => rows.reduce((total, row) => total + row[key], 0);
  const worst = (rows, key) => rows.length ? Math.max(...rows.map(row => row[key])) : 0;
  at("rate").textContent = short(sum(recent, "samples") / 5);
  const timed = recent.filter(second => second.median_ms != null);
  at("median").textContent = timed.length ? short(sum(timed, "median_ms") / timed.length) : "–";
  at("p99").textContent = timed.length ? short(worst(timed, "p99_ms")) : "–";
  at("resident").textContent = live.resident;
  at("known").textContent = live.known;
  at("queued").textContent = live.queued_samples;
  at("errors").textContent = sum(live.seconds, "errors");
}

function cell(row, text) {
  const made = row.insertCell();
  made.textContent = text;
  return made;
}

function button(parent, text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  parent.append(made);
}

function healthOf(stream) {
  const health = stream.health || {};
  if (stream.frozen) return ["frozen", ""];
  if (health.predicting === "source") return ["source model predicts", "bad"];
  const percent = share => `${(100 * share).toFixed(0)} %`;
  if (health.accuracy == null && health.agreement != null) {
    return [`says what the source says of ${percent(health.agreement)}`, ""];
  }
  if (health.accuracy == null) return [stream.resident ? "–" : "on disk", ""];
  return [`about ${percent(health.accuracy)} right, source ${percent(health.source_accuracy)}`, ""];
}

function row(id) {
  const made = document.createElement("tr");
  made.dataset.stream = id;
  cell(made, id);
  for (let place = 0; place < 5; place++) cell(made, "");
  const buttons = cell(made, "");
  button(buttons, "Roll back", () => act(id, "rollback"));
  button(buttons, "Reset", () => act(id, "reset"));
  button(buttons, "Freeze", () => act(id, "freeze", {frozen: made.dataset.frozen !== "true"}));
  return made;
}

function fill(made, stream) {
  const [health, kind] = healthOf(stream);
  const texts = [stream.samples ?? "–", stream.updates ?? "–",
    `${stream.learned_through ?? "–"} / ${stream.durable_through ?? "–"}`,
    stream.idle_seconds == null ? "–" : `${Math.round(stream.idle_seconds)} s`, health];
  texts.forEach((text, place) => { made.cells[place + 1].textContent = text; });
  made.cells[5].className = kind;
  made.dataset.frozen = Boolean(stream.frozen);
  made.cells[6].lastChild.textContent = stream.frozen ? "Unfreeze" : "Freeze";
}

function list(streams) {
  const known = new Map([...at("streams").rows].map(made => [made.dataset.stream, made]));
  for (const stream of streams) {
    const made = known.get(stream.id) || at("streams").appendChild(row(stream.id));
    fill(made, stream);
    known.delete(stream.id);
  }
  known.forEach(made => made.remove());
}

async function act(stream, verb, body) {
  try {
    await ask(`v2/models/${model}/streams/${encodeURIComponent(stream)}/${verb}`, "POST", body);
    await refresh();
  } catch (error) {
    say(error.message, true);
  }
}

function events(happened) {
  const rows = happened.slice(0, 30).map(event => {
    const made = document.createElement("li");
    const time = new Date(1000 * event.at).toLocaleTimeString();
    made.textContent = `${time}  ${event.stream}: ${event.what}`;
    return made;
  });
  if (!rows.length) {
    const made = document.createElement("li");
    made.className = "quiet";
    made.textContent = "nothing yet";
    rows.push(made);
  }
  at("events").replaceChildren(...rows);
}

async function refresh() {
  const live = await ask("live");
  model = live.model;
  at("model").textContent = `${live.model}, ${live.method}`;
  tiles(live);
  const timed = live.seconds.filter(second => second.median_ms != null);
  draw("throughput", [{kind: "one", points: filled(live.seconds, live.now)}], live.now);
  draw("latency", [
    {kind: "one", points: timed.map(second => [second.at, second.median_ms])},
    {kind: "two", points: timed.map(second => [second.at, second.p99_ms])},
  ], live.now);
  draw("accuracy", [
    {kind: "one", points: live.health.map(point => [point.at, point.accuracy])},
    {kind: "two", points: live.health.map(point => [point.at, point.source_accuracy])},
  ], live.now, 1);
  events(live.events);
  const told = await ask(`v2/models/${model}/streams?limit=${shown}`);
  at("more").hidden = !told.more;
  list(told.streams);
  at("access").hidden = true;
  say("live");
}

async function follow() {
  try {
    await refresh();
  } catch (error) {
    at("access").hidden = error.status !== 401;
    say(error.status === 401 ? "a token is needed" : `no answer: ${error.message}`, true);
  }
  setTimeout(follow, document.hidden ? 5000 : 1000);
}

at("access").addEventListener("submit", event => {
  event.preventDefault();
  token = at("token").value.trim();
  sessionStorage.setItem("trimtab-token", token);
  refresh().catch(error => say(error.message, true));
});
at("more").addEventListener("click", () => { shown += PAGE; });
at("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
follow();
