// What is looked at, and who tells of new rounds.
const state = {rounds: [], round: null, frame: null, other: null, pickedName: "", view: "now", chosen: false, colour: "queue", follow: true, asked: 0};
const maps = [...document.querySelectorAll("#nodes figure")].map((figure) => new NodeMap(figure));

for (const map of maps) {
  map.onGang = (name) => pick(name === state.pickedName ? "" : name);
  map.onNode = (node, from) => { $("#there").textContent = saysNode(from.frame, from.cells, node); };
}

function looked() {
  // The frame that the panels describe: greedy's where only that is looked at.
  return state.view === "other" && state.other ? state.other : state.frame;
}

function places(frame) {
  return frame.gangs.findIndex((gang) => gang.name === state.pickedName);
}

async function ask(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  const told = await answer.json();
  if (told.gone) throw new Error(told.gone);
  return told;
}

function trouble(text) {
  const line = $("#state");
  line.classList.toggle("bad", Boolean(text));
  line.textContent = text || (state.live ? "live" : "");
}

async function refresh(newest) {
  // The newest round is asked for beside the list: that saves a way there and back.
  const early = state.follow && newest >= 0 && newest !== state.round ? ask(`frame?round=${newest}`) : null;
  if (early) early.catch(() => null);
  const told = await ask("rounds");
  state.rounds = told.rounds;
  state.live = told.live;
  state.answers = told.answers;
  $("#source").textContent = told.source;
  document.title = `${told.source} · Phalanx`;
  trouble(told.trouble);
  if (!state.rounds.length) { $("#told").textContent = state.live ? "Waiting for the first round …" : "There is no round to show."; return; }
  $("#rounds").hidden = state.rounds.length < 2;
  $(".keys label").hidden = !state.live;
  const last = state.rounds.length - 1;
  let at = state.rounds.findIndex((round) => round.id === state.round);
  if (state.follow || at < 0) at = state.follow ? last : 0;
  $("#scrub").max = last;
  await go(at, told.version, early && state.rounds[at].id === newest ? early : null);
}

async function go(at, version, early) {
  const round = state.rounds[at];
  $("#scrub").value = at;
  $("#scrub").setAttribute("aria-valuetext", saysRound(round, at, state.rounds.length));
  drawCurve(state.rounds, at);
  $("#told").textContent = saysRound(round, at, state.rounds.length);
  if (round.id !== state.round || !state.frame) {
    const asked = ++state.asked;
    const frame = await (early || ask(`frame?round=${round.id}`));
    if (asked !== state.asked) return;
    state.round = round.id;
    state.frame = frame;
    state.other = null;
    if (!state.chosen) state.view = frame.plan && !state.live ? "plan" : "now";
  }
  show();
  if (version !== undefined) requestAnimationFrame(() => { document.body.dataset.version = version; document.body.dataset.seen = Date.now(); });
}

function queueTint(frame, at) {
  // By its name, so that both plans of a round show it alike.
  if (at < 0) return theme.others;
  const found = state.frame.queues.findIndex((queue) => queue.name === frame.queues[at].name);
  return paint(found < 0 ? at : found, state.frame.queues.length);
}

function mixed(name) {
  let sum = 7;
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) >>> 0;
  return sum % 997;
}

function colours(frame) {
  if (state.colour === "gang") return frame.gangs.map((gang) => paint(mixed(gang.name), 997));
  const tints = frame.queues.map((_, at) => queueTint(frame, at));
  return frame.gangs.map((gang) => gang.queue < 0 ? theme.others : tints[gang.queue]);
}

function views() {
  const plan = Boolean(state.frame.plan), other = plan && known();
  const may = {now: true, plan, other, both: other};
  for (const input of document.querySelectorAll("#view input")) {
    input.disabled = !may[input.value];
    if (input.disabled && state.view === input.value) state.view = "now";
  }
  for (const input of document.querySelectorAll("#view input")) input.checked = input.value === state.view;
  $("#mine").textContent = plan ? titled(state.frame.plan.strategy) : "Plan";
}

function known() {
  // Of a live cluster only the newest round can still be asked about.
  return Boolean(state.other) || (state.answers && (!state.live || state.round === state.rounds[state.rounds.length - 1].id));
}

async function askWhy(gang) {
  const line = $("#gang .why"), round = state.round;
  if (!known() || !WAITS.has(state.frame.gangs[gang].state)) return;
  // Once a round, and again where a newer round came before the answer did.
  const asked = `${round} ${state.view} ${state.pickedName}`;
  if (line.dataset.asked === asked) return;
  line.dataset.asked = asked;
  try {
    const why = await ask(`why?round=${round}&gang=${gang}`);
    if (round !== state.round || looked() !== state.frame || state.frame.gangs[gang].name !== state.pickedName || !why.sentence) return;
    line.replaceChildren(made("b", why.verdict === "none" ? "" : `${why.verdict}: `), why.sentence);
    // What the sentence says is not said again.
    const list = made("ul"), rest = why.because.filter((one) => !why.sentence.includes(one.sentence));
    for (const one of rest) list.append(made("li", one.sentence));
    if (rest.length) line.append(made("span", rest.length < why.because.length ? ". That forbids it only together with:" : ". Together these forbid it, and none can be left out:"));
    line.append(list);
    if (!why.certain) line.append(made("span", "Not certain: the search ended before it was decided."));
    if (why.place && LINED.has(why.verdict)) line.append(made("p", saysPlace(why.place)));
    $("#help").hidden = why.verdict === "none";
  } catch (error) {
    line.append(made("span", ` (${error.message})`));
  }
}

async function askHelp() {
  // Rounds are planned for it, so only when somebody wants to know.
  const gang = places(state.frame), round = state.round, line = $("#gang .help");
  if (gang < 0) return;
  const name = state.pickedName;
  $("#help").hidden = true;
  line.textContent = "Trying what would help …";
  try {
    const why = await ask(`remedies?round=${round}&gang=${gang}`);
    if (state.pickedName === name && state.round === round && looked() === state.frame) showHelp(line, why);
  } catch (error) {
    line.textContent = error.message;
  }
}

function show() {
  if (!state.frame) return;
  views();
  const view = state.view, frame = looked(), caption = $("figcaption", maps[0].figure);
  maps[1].figure.hidden = view !== "both";
  caption.hidden = view !== "both";
  caption.textContent = state.frame.plan ? $("#mine").textContent : "";
  maps[0].colours = colours(frame);
  maps[0].show(frame, frame.cells, view === "now" ? "now" : "plan");
  if (view === "both" && state.other) {
    maps[1].colours = colours(state.other);
    maps[1].show(state.other, state.other.cells, "plan");
  }
  showQueues(frame, view);
  showWaits(frame, places(frame), openFromList);
  light();
  showPlan(state.frame, state.other);
  if ((view === "other" || view === "both") && !state.other) askOther();
}

function light() {
  // Why a gang waits is told of our plan; where only greedy's is looked at, its own reason stands.
  const frame = looked(), at = places(frame), line = $("#gang .why");
  showGang(frame, at, frame.cells);
  if (frame !== state.frame) delete line.dataset.asked;
  else if (at >= 0 && !$("ul", line)) askWhy(at);
  for (const map of maps) map.light(state.pickedName);
}

async function askOther() {
  const round = state.round;
  $("#there").textContent = "Greedy plans the same round …";
  try {
    const other = await ask(`greedy?round=${round}`);
    if (round !== state.round) return;
    state.other = other;
    $("#there").textContent = "";
    show();
  } catch (error) {
    $("#there").textContent = error.message;
    state.view = "plan";
    show();
  }
}

function pick(name) {
  state.pickedName = name;
  light();
  for (const button of document.querySelectorAll("#waits button"))
    button.setAttribute("aria-pressed", String($("b", button).textContent === name));
  for (const map of maps) map.find(name);
}

function openFromList(name) {
  // The list may be far below what it opens.
  pick(name);
  $("#gang").scrollIntoView({block: "nearest"});
}

function find(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted || !state.frame) return;
  const gang = state.frame.gangs.findIndex((each) => each.name.toLowerCase() === wanted || each.name.toLowerCase().split("/").pop() === wanted);
  if (gang >= 0) {
    pick(state.frame.gangs[gang].name);
    return;
  }
  const node = state.frame.nodes.findIndex((each) => each[0].toLowerCase() === wanted);
  if (node < 0) return;
  maps[0].cursor = node;
  maps[0].seen(node);
  maps[0].canvas.focus();
  maps[0].onNode(node, maps[0]);
}

function suggest(text) {
  const wanted = text.trim().toLowerCase();
  const names = wanted.length < 2 || !state.frame ? [] : [...state.frame.gangs.map((gang) => gang.name), ...state.frame.nodes.map((node) => node[0])].filter((name) => name.toLowerCase().includes(wanted)).slice(0, 20);
  $("#names").replaceChildren(...names.map((name) => { const option = made("option"); option.value = name; return option; }));
}

$("#view").addEventListener("change", (event) => { state.view = event.target.value; state.chosen = true; show(); });
$("#colour").addEventListener("change", (event) => { state.colour = event.target.value; show(); });
$("#help").addEventListener("click", askHelp);
$("#close").addEventListener("click", () => pick(""));
$("#more").addEventListener("click", () => { waitsShown += 200; show(); });
$("#follow").addEventListener("change", (event) => { state.follow = event.target.checked; if (state.follow) queue(); });
$("#scrub").addEventListener("input", (event) => {
  const at = Number(event.target.value);
  state.follow = at === state.rounds.length - 1;
  $("#follow").checked = state.follow;
  go(at).catch((error) => trouble(error.message));
});
$("#find").addEventListener("input", (event) => { suggest(event.target.value); find(event.target.value); });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") pick("");
  if (event.key === "/" && event.target.tagName !== "INPUT") { $("#find").focus(); event.preventDefault(); }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); show(); drawCurve(state.rounds, Number($("#scrub").value)); });
addEventListener("resize", () => { if (state.rounds.length) drawCurve(state.rounds, Number($("#scrub").value)); });

let busy = false, again = false, newest = -1;
async function queue(event) {
  // One question at a time; what comes meanwhile is asked for once more.
  if (event && event.data) newest = Number(event.data.split(" ")[1]);
  if (busy) { again = true; return; }
  busy = true;
  do {
    again = false;
    try { await refresh(newest); } catch (error) { trouble(error.message); }
  } while (again);
  busy = false;
}

readTheme();
const events = new EventSource("events");
events.addEventListener("message", queue);
events.addEventListener("error", () => trouble("the connection is lost; trying again …"));
