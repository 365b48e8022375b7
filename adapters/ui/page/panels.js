// What stands beside the map. Names are only ever written as text.
const $ = (query, from = document) => from.querySelector(query);
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const does = (n, verb) => `${n.toLocaleString("en")} ${verb}${n === 1 ? "s" : ""}`;
const starting = (n) => `${counted(n, "gang")} ${n === 1 ? "starts" : "start"}`;
const WAITS = new Set(["Waiting", "Reserved"]);
let waitsShown = 60;

function made(tag, text = "", name = "") {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (name) element.className = name;
  return element;
}

function titled(word) {
  return word.replace(/^./, (sign) => sign.toUpperCase());
}

function lasted(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds % 86400 / 3600)} h`;
}

function thousandths(gpus) {
  return Math.round(1000 * gpus) / 1000;
}

function depthOf(frame, queue) {
  const known = new Map(frame.queues.map((each) => [each.name, each]));
  let depth = 0, at = queue;
  while (at.parent !== null && known.has(at.parent) && depth < 8) { at = known.get(at.parent); depth++; }
  return depth;
}

function inTreeOrder(frame) {
  const below = new Map();
  const names = new Set(frame.queues.map((queue) => queue.name));
  frame.queues.forEach((queue, at) => {
    const parent = names.has(queue.parent) ? queue.parent : null;
    below.set(parent, [...(below.get(parent) || []), at]);
  });
  const found = [], seen = new Set();
  const walk = (name) => {
    for (const at of below.get(name) || [])
      if (!seen.has(at)) { seen.add(at); found.push(at); walk(frame.queues[at].name); }
  };
  walk(null);
  frame.queues.forEach((_, at) => { if (!seen.has(at)) found.push(at); });
  return found;
}

function showQueues(frame, view) {
  const list = $("#queues");
  const most = Math.max(1, ...frame.queues.map((q) => Math.max(q.used, q.after, q.quota || 0, q.share || 0, q.limit || 0)));
  list.replaceChildren(...inTreeOrder(frame).slice(0, 200).map((at) => {
    const queue = frame.queues[at], item = made("li"), name = made("div", "", "name"), title = made("b");
    const dot = made("i", "", "dot");
    dot.style.background = queueTint(frame, at);
    title.append(dot, queue.name + (queue.open ? "" : " (closed)"));
    const now = thousandths(view === "now" ? queue.used : queue.after);
    const said = [counted(now, "GPU")];
    if (queue.quota !== null) said.push(`quota ${queue.quota.toLocaleString("en")}`);
    if (queue.share !== null) said.push(`share ${queue.share.toLocaleString("en")}`);
    if (queue.limit !== null) said.push(`limit ${queue.limit.toLocaleString("en")}`);
    name.append(title, made("span", said.join(" · ")));
    const bar = made("div", "", "bar"), use = made("i");
    bar.setAttribute("aria-hidden", "true");
    use.style.width = `${100 * now / most}%`;
    use.style.background = dot.style.background;
    bar.append(use);
    for (const word of ["quota", "share", "limit"])
      if (queue[word] !== null && queue[word] <= most) {
        const mark = made("span", "", word);
        mark.style.left = `${100 * queue[word] / most}%`;
        mark.title = word;
        bar.append(mark);
      }
    item.style.marginLeft = `${14 * depthOf(frame, queue)}px`;
    item.append(name, bar);
    return item;
  }));
  if (!frame.queues.length) list.replaceChildren(made("li", "No queue is named."));
}

function showWaits(frame, picked, onGang) {
  const waits = frame.gangs.map((gang, at) => [gang, at]).filter(([gang]) => WAITS.has(gang.state));
  waits.sort(([a], [b]) => b.priority - a.priority || b.age - a.age);
  $("#waits-head").textContent = waits.length ? `Waiting: ${counted(waits.length, "gang")}` : "Waiting: nobody";
  $("#waits").replaceChildren(...waits.slice(0, waitsShown).map(([gang, at]) => {
    const item = made("li"), button = made("button"), name = made("span", "", "name"), title = made("b");
    button.type = "button";
    button.setAttribute("aria-pressed", String(at === picked));
    const dot = made("i", "", "dot");
    dot.style.background = queueTint(frame, gang.queue);
    title.append(dot, gang.name);
    name.append(title, made("span", [gang.gpus[0] ? [counted(gang.gpus[0], "GPU")] : [], lasted(gang.age)].flat().join(" · ")));
    button.append(name, made("span", gang.state === "Reserved" ? "Places reserved" : gang.reason || "Waiting", gang.state === "Reserved" ? "reason kept" : "reason"), made("span", gang.message, "said"));
    button.addEventListener("click", () => onGang(gang.name));
    item.append(button);
    return item;
  }));
  const left = waits.length - waitsShown;
  $("#more").hidden = left <= 0;
  $("#more").textContent = `Show ${Math.min(left, 200)} more`;
}

function showGang(frame, at, cells) {
  const panel = $("#gang");
  panel.hidden = at < 0;
  if (at < 0) return;
  const gang = frame.gangs[at], queue = frame.queues[gang.queue];
  $("#gang-head").textContent = gang.name;
  const places = [];
  cells.forEach((row, node) => {
    const here = row.filter((cell) => cell[0] === at);
    if (here.length) places.push(frame.nodes[node][0] + (here.some((cell) => "em".includes(cell[2])) ? " (leaves)" : ""));
  });
  const shown = places.slice(0, 12).join(", ") + (places.length > 12 ? ` and ${places.length - 12} more` : "");
  const facts = [
    ["State", gang.state], ["Queue", queue ? queue.name : "none"], ["Priority", String(gang.priority)],
    ["Pods", `${gang.pods[0]} there, at least ${gang.pods[1]}, up to ${gang.pods[2]}`],
    ["GPUs", `${gang.gpus[1]} in use of ${gang.gpus[0]} asked for`], ["Age", lasted(gang.age)],
    ["Nodes", shown || "none"],
  ];
  $("dl", panel).replaceChildren(...facts.flatMap(([name, value]) => [made("dt", name), made("dd", value)]));
  const about = JSON.stringify([gang.name, gang.state, gang.message, frame.plan && frame.plan.strategy]);
  if (panel.dataset.about === about && $(".why ul", panel)) return;
  panel.dataset.about = about;
  $(".why", panel).textContent = gang.reason ? `${gang.reason}: ${gang.message}` : "";
  $(".help", panel).textContent = "";
  $("#help").hidden = true;
}

const LINED = new Set(["outranked", "limit", "quota", "share"]);

function saysPlace(place) {
  const before = place.before.slice(-3).reverse().join(", ");
  const more = place.at > 4 ? ` and ${counted(place.at - 4, "other")}` : "";
  return `In line: number ${place.at.toLocaleString("en")} of ${place.waiting.toLocaleString("en")} that wait and can be planned, number ${place.inQueue.toLocaleString("en")} of its queue${before ? `; before it ${before}${more}` : ""}.`;
}

function showHelp(line, why) {
  const list = made("ol"), found = why.remedies || [];
  for (const one of found) {
    const others = [["starting", one.others.starts], ["no longer starting", one.others.waits], ["leaving", one.others.leaves]].filter(([, names]) => names.length).map(([word, names]) => `${word} ${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`);
    if (one.alone) others.push("unless others that wait take it first");
    list.append(made("li", `${[one.sentence, ...others].join(", ")} (price ${one.price.toLocaleString("en")})`));
  }
  const left = why.untried ? `; ${counted(why.untried, "change")} not tried` : "";
  const none = why.proven ? "Nothing on the menu helps, which is proven." : `Nothing on the menu was found to help${left}.`;
  line.replaceChildren(made("b", found.length ? `Would help, cheapest first (each was planned and judged)${why.later ? ", in the next round" : ""}${left}` : none));
  if (found.length) line.append(list);
  if (why.instead) line.prepend(made("p", `${why.instead.sentence[0].toUpperCase()}${why.instead.sentence.slice(1)}.`));
  line.append(made("p", `When: ${why.when.sentence}.`));
}

function tierPairs(mine, theirs) {
  // Tiers of losses are listed only by a plan that loses something; the other loses nothing.
  const bare = (tier) => tier.name.replace(/^\d+ /, ""), none = {shown: "0", bound: "0", certainty: "proven", value: 0, limit: 0};
  const [more, fewer] = theirs.length > mine.length ? [theirs, mine] : [mine, theirs];
  const listed = new Set(more.map(bare)), all = [...more, ...fewer.filter((tier) => !listed.has(bare(tier)))];
  const find = (tiers, tier) => tiers.find((each) => bare(each) === bare(tier)) || none;
  return all.map((tier) => [tier.name, find(mine, tier), find(theirs, tier)]).filter(([, own, their]) => own.value || own.limit || their.value);
}

function showPlan(frame, other) {
  const plan = frame.plan, panel = $("#plan");
  panel.hidden = !plan;
  if (!plan) return;
  const theirs = other && other.plan ? other.plan.tiers : [], tiers = tierPairs(plan.tiers, theirs);
  $(".wide", panel).hidden = !tiers.length;
  const parts = [`${plan.strategy}, ${plan.status}`, starting(plan.starts), does(plan.waits, "wait"), does(plan.leaves, "leave")];
  if (plan.gpus !== null) parts.push(`${counted(plan.gpus, "GPU")} at work`);
  $("#plan-head").textContent = other && other.plan ? "The plan, beside greedy’s" : "The plan";
  if (plan.seconds !== null) parts.push(`${plan.seconds.toFixed(2)} s`);
  if (other && other.plan) parts.push(`greedy: ${does(other.plan.starts, "start")}, ${counted(other.plan.gpus, "GPU")} at work`);
  $("#summary").textContent = parts.join(" · ");
  $("#own").textContent = titled(plan.strategy);
  $("tbody", panel).replaceChildren(...tiers.map(([name, mine, their]) => {
    const row = made("tr");
    row.append(made("td", name), made("td", other ? their.shown : "…"), made("td", mine.shown), made("td", mine.bound), made("td", mine.certainty, mine.certainty === "proven" ? "good" : ""));
    return row;
  }));
}

const HOW = {b: " starts", e: " leaves", m: " moves away", k: " reserved", p: " reserved", t: " terminates"};

function saysNode(frame, cells, at) {
  const node = frame.nodes[at], parts = [], shared = (frame.parts || {})[at] || [];
  const sharers = new Set(shared.map((part) => part[0]));
  let used = node[3];
  for (const [gang, gpus, how] of cells[at] || []) {
    const words = HOW[how] || "";
    if (!gpus && sharers.has(gang)) continue;
    if ("rbtem".includes(how)) used += gpus;
    parts.push(`${gpus ? gpus + " × " : ""}${frame.gangs[gang].name}${words}`);
  }
  const on = {};
  for (const [gang, device, size, how] of shared) {
    if ("orbtem".includes(how)) on[device] = (on[device] || 0) + size / 1000;
    const who = gang < 0 ? "pods of others" : frame.gangs[gang].name;
    parts.push(`${size / 1000} of GPU ${device}: ${who}${HOW[how] || ""}`);
  }
  for (const part of Object.values(on)) used += Math.min(1, part);
  if (node[3]) parts.push(`${node[3]} by pods of others`);
  const free = thousandths(Math.max(0, node[2] - used));
  const where = frame.groups[node[1]];
  return `${node[0]}${where && where !== node[0] ? ` (${where})` : ""}: ${counted(node[2], "GPU")}${node[4] ? ", closed" : ""}, ${free} free${parts.length ? ": " + parts.slice(0, 8).join(", ") : ""}${parts.length > 8 ? " …" : ""}`;
}
