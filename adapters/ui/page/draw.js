// The map: nodes as boxes of GPUs, only those drawn that are seen.
const SIZES = [30, 22, 17, 13, 10, 8, 7, 6, 5];
const LABEL = 15, NAME = 13, GAP = 3;
const theme = {};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "faint", "line", "grid", "card", "hole", "others", "link", "lit", "bad", "light", "chroma"])
    theme[name] = style.getPropertyValue("--" + name).trim();
}

function hue(at, count) {
  return count <= 8 ? [212, 25, 145, 275, 48, 330, 185, 0][at % 8] : (at * 137.508 + 212) % 360;
}

function paint(at, count) {
  return at < 0 ? theme.others : `hsl(${hue(at, count).toFixed(0)} ${theme.chroma} ${theme.light})`;
}

function partsOf(node, parts, view) {
  // Devices of which parts are taken stand last, each filled from below.
  const shown = view === "now" ? "oremtp" : "orbtemk", slots = new Map();
  const devices = [...new Set(parts.map((part) => part[1]))].sort((a, b) => a - b);
  for (const [gang, device, size, how] of parts) {
    if (!shown.includes(how)) continue;
    const slot = node[2] - devices.length + devices.indexOf(device);
    if (slot < 0) continue;
    if (!slots.has(slot)) slots.set(slot, []);
    slots.get(slot).push([gang, size, how]);
  }
  return slots;
}

function slotsOf(node, cells, view) {
  // What fills each GPU, and what is kept for whom on top of it.
  const base = [], over = [];
  const put = (list, gang, gpus, how) => { for (let i = 0; i < gpus; i++) list.push([gang, how]); };
  put(base, -1, node[3], "o");
  const order = view === "now" ? "remt" : "rbtem";
  for (const how of order)
    for (const [gang, gpus, is] of cells)
      if (is === how) put(base, gang, gpus, view === "now" && how !== "t" ? "r" : how);
  let first = 0;
  while (first < base.length && "orb".includes(base[first][1])) first++;
  for (const [gang, gpus, is] of cells)
    if (is === (view === "now" ? "p" : "k")) put(over, gang, gpus, "k");
  return {base, over, first};
}

class NodeMap {
  constructor(figure) {
    this.figure = figure;
    this.scroll = figure.querySelector(".scroll");
    this.space = figure.querySelector(".space");
    this.canvas = figure.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.lit = -1;
    this.frame = null;
    this.cells = [];
    this.view = "now";
    this.cursor = -1;
    this.waiting = false;
    this.stale = true;
    this.scroll.addEventListener("scroll", () => this.soon(true), {passive: true});
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerdown", (event) => this.click(event));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => this.soon());
    this.canvas.addEventListener("blur", () => this.soon());
    new ResizeObserver(() => this.layout()).observe(this.scroll);
  }

  show(frame, cells, view) {
    const other = !this.frame || frame.nodes.length !== this.frame.nodes.length || frame.source !== this.frame.source;
    this.frame = frame;
    this.cells = cells;
    this.view = view;
    this.slots = new Array(frame.nodes.length);
    this.parts = new Array(frame.nodes.length);
    if (other) this.cursor = -1;
    this.scroll.hidden = !frame.nodes.length;
    this.figure.querySelector(".none").hidden = !this.scroll.hidden;
    this.layout();
  }

  layout() {
    const frame = this.frame;
    if (!frame) return;
    this.width = this.scroll.clientWidth;
    if (!this.width) return;
    const narrow = innerWidth <= 900, room = Math.max(160, Math.min(narrow ? 480 : 720, innerHeight * (narrow ? 0.56 : 0.66)));
    const most = frame.nodes.reduce((m, n) => Math.max(m, n[2]), 1);
    this.rows = most <= 4 ? 1 : most <= 16 ? 2 : 4;
    this.columns = Math.ceil(most / this.rows);
    this.groups = frame.groups.map(() => []);
    frame.nodes.forEach((node, at) => this.groups[node[1]].push(at));
    for (const size of SIZES) {
      this.size = size;
      this.place();
      if (this.total <= room || size === SIZES[SIZES.length - 1]) break;
    }
    if (this.total > room) this.widen();
    this.height = Math.min(this.total, room);
    this.scroll.style.height = this.height + 2 + "px";
    this.space.style.height = Math.max(this.total, this.height) + "px";
    const scale = Math.min(2, window.devicePixelRatio || 1);
    const wide = Math.round(this.width * scale), high = Math.round(this.height * scale);
    if (this.canvas.width !== wide) this.canvas.width = wide;
    if (this.canvas.height !== high) this.canvas.height = high;
    this.canvas.style.width = this.width + "px";
    this.canvas.style.height = this.height + "px";
    this.scale = scale;
    this.soon();
  }

  widen() {
    // It scrolls anyway: as large as it can be without more lines.
    const lines = () => new Set(this.boxes.map((box) => box[1])).size, least = lines();
    for (const size of SIZES.slice(SIZES.findIndex((each) => each < 13))) {
      this.size = size;
      this.place();
      if (lines() <= least) break;
    }
  }

  place() {
    // Groups flow like words; nodes flow inside a group.
    const named = this.size >= 13;
    this.boxWidth = this.columns * this.size + 3;
    this.boxHeight = this.rows * this.size + 3 + (named ? NAME : 0);
    this.named = named;
    const stepX = this.boxWidth + GAP, stepY = this.boxHeight + GAP;
    const across = Math.max(1, Math.floor((this.width - 12) / stepX));
    let x = 6, y = 4, tall = 0;
    this.boxes = new Array(this.frame.nodes.length);
    this.heads = [];
    this.groups.forEach((nodes, group) => {
      const columns = Math.min(nodes.length, across), wide = columns * stepX;
      const high = LABEL + Math.ceil(nodes.length / Math.max(1, columns)) * stepY;
      if (x > 6 && x + wide > this.width - 6) { x = 6; y += tall + 5; tall = 0; }
      this.heads.push([x, y, wide, high, group]);
      nodes.forEach((node, i) => {
        this.boxes[node] = [x + (i % columns) * stepX, y + LABEL + Math.floor(i / columns) * stepY];
      });
      x += wide + 9;
      tall = Math.max(tall, high);
    });
    this.total = y + tall + 6;
  }

  soon(scrolled = false) {
    if (!scrolled) this.stale = true;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    if (!this.frame || !this.boxes) return;
    const begun = performance.now(), pen = this.pen;
    const top = Math.round(this.scroll.scrollTop * this.scale) / this.scale;
    const [from, to] = this.stale ? [0, this.height] : this.move(top - this.top);
    this.top = top;
    this.stale = false;
    pen.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    pen.save();
    pen.beginPath();
    pen.rect(0, from, this.width, to - from);
    pen.clip();
    pen.fillStyle = theme.card;
    pen.fillRect(0, from, this.width, to - from);
    pen.translate(0, -top);
    pen.textBaseline = "alphabetic";
    const low = top + from - 3, high = top + to + 3;
    for (const [x, y, wide, tall, group] of this.heads) {
      if (y + tall < low || y > high) continue;
      pen.fillStyle = theme.faint;
      pen.font = "11px sans-serif";
      this.text(this.frame.groups[group], x, y + 11, Math.max(wide - 4, 24));
      for (const node of this.groups[group]) {
        const box = this.boxes[node];
        if (box[1] + this.boxHeight >= low && box[1] <= high) this.node(node, box);
      }
    }
    pen.restore();
    const ms = performance.now() - begun;
    this.canvas.dataset.ms = ms.toFixed(2);
    this.canvas.dataset.draws = Number(this.canvas.dataset.draws || 0) + 1;
  }

  move(by) {
    // What is seen before and after scrolling moves; give what is seen only now.
    if (Math.abs(by) >= this.height) return [0, this.height];
    const pen = this.pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalCompositeOperation = "copy";
    pen.drawImage(this.canvas, 0, -Math.round(by * this.scale));
    pen.globalCompositeOperation = "source-over";
    return by > 0 ? [this.height - by - 1, this.height] : [0, Math.min(this.height, 1 - by)];
  }

  text(words, x, y, room) {
    let text = words.slice(0, 80);
    const most = Math.floor(room / 5.2);
    if (text.length > most) text = text.slice(0, Math.max(1, most - 1)) + "…";
    this.pen.fillText(text, x, y, room);
  }

  node(at, box) {
    const pen = this.pen, node = this.frame.nodes[at], size = this.size, inner = size - 1;
    let [x, y] = box;
    const slots = this.slots[at] || (this.slots[at] = slotsOf(node, this.cells[at] || [], this.view));
    const lit = this.lit, taken = (this.frame.parts || {})[at];
    const parts = taken && taken.length ? this.parts[at] || (this.parts[at] = partsOf(node, taken, this.view)) : null;
    const here = lit >= 0 && (this.cells[at] || []).some((cell) => cell[0] === lit);
    pen.globalAlpha = 1;
    if (this.named) {
      pen.font = (here ? "bold " : "") + "10px sans-serif";
      pen.fillStyle = here ? theme.lit : theme.faint;
      this.text(node[0], x, y + 10, this.boxWidth);
      y += NAME;
    }
    pen.strokeStyle = here ? theme.lit : theme.line;
    pen.lineWidth = here ? 1.6 : 0.6;
    pen.strokeRect(x + 0.5, y + 0.5, this.boxWidth - 1, this.rows * size + 2);
    for (let i = 0; i < node[2]; i++) {
      const cx = x + 2 + (i % this.columns) * size, cy = y + 2 + Math.floor(i / this.columns) * size;
      const under = slots.base[i], over = i >= slots.first ? slots.over[i - slots.first] : undefined;
      pen.globalAlpha = 1;
      pen.fillStyle = theme.hole;
      pen.fillRect(cx, cy, inner, inner);
      if (parts && parts.has(i)) this.shared(parts.get(i), cx, cy, inner);
      else if (under) this.block(...under, cx, cy, inner, inner);
      else if (!over) { pen.strokeStyle = theme.line; pen.lineWidth = 0.7; pen.strokeRect(cx + 0.5, cy + 0.5, inner - 1, inner - 1); }
      if (over) {
        pen.globalAlpha = lit < 0 || over[0] === lit ? 1 : 0.2;
        this.kept(over[0], cx, cy, inner, inner);
      }
    }
    pen.globalAlpha = 1;
    if (node[4]) this.closed(x, y);
    if (at === this.cursor && document.activeElement === this.canvas) {
      pen.strokeStyle = theme.link;
      pen.lineWidth = 3;
      pen.strokeRect(x - 1, y - 1, this.boxWidth + 1, this.rows * size + 5);
    }
  }

  block(gang, how, x, y, wide, high) {
    // A GPU or a part of one: a dot where it starts, crossed where it leaves.
    const pen = this.pen, lit = this.lit;
    pen.globalAlpha = (lit < 0 || gang === lit ? 1 : 0.2) * (how === "t" ? 0.5 : 1);
    if ("kp".includes(how)) { this.kept(gang, x, y, wide, high); return; }
    pen.fillStyle = gang < 0 ? theme.others : this.colours[gang];
    pen.fillRect(x, y, wide, high);
    if (how === "b") {
      pen.fillStyle = theme.card;
      pen.beginPath();
      pen.arc(x + wide / 2, y + high / 2, Math.max(1, Math.min(wide * 0.2, high * 0.3)), 0, 7);
      pen.fill();
    } else if (how === "e" || how === "m") {
      pen.strokeStyle = theme.card;
      pen.lineWidth = Math.max(1, high / 6);
      pen.beginPath();
      pen.moveTo(x, y + high);
      pen.lineTo(x + wide, y);
      pen.stroke();
    }
  }

  kept(gang, x, y, wide, high) {
    const pen = this.pen;
    pen.strokeStyle = this.colours[gang];
    pen.lineWidth = Math.max(1, Math.min(this.size / 6, high / 3));
    const edge = pen.lineWidth;
    pen.strokeRect(x + edge / 2, y + edge / 2, wide - edge, high - edge);
    // Seen also on what leaves and has the same colour.
    pen.strokeStyle = theme.card;
    pen.lineWidth = 1;
    pen.strokeRect(x + edge + 0.5, y + edge + 0.5, wide - 2 * edge - 1, high - 2 * edge - 1);
  }

  shared(parts, x, y, inner) {
    const pen = this.pen;
    let from = y + inner;
    pen.strokeStyle = theme.line;
    pen.lineWidth = 0.7;
    pen.strokeRect(x + 0.5, y + 0.5, inner - 1, inner - 1);
    for (const [gang, size, how] of parts) {
      const high = Math.max(1, inner * Math.min(1000, size) / 1000);
      from -= high;
      this.block(gang, how, x, Math.max(y, from), inner, Math.max(1, high - 1));
    }
    pen.globalAlpha = 1;
  }

  closed(x, y) {
    const pen = this.pen, high = this.rows * this.size + 3;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, this.boxWidth, high);
    pen.clip();
    pen.strokeStyle = theme.faint;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let i = -high; i < this.boxWidth; i += 6) { pen.moveTo(x + i, y + high); pen.lineTo(x + i + high, y); }
    pen.stroke();
    pen.restore();
  }

  at(event) {
    const rect = this.canvas.getBoundingClientRect();
    const x = event.clientX - rect.left, y = event.clientY - rect.top + this.scroll.scrollTop;
    for (const [hx, hy, wide, high, group] of this.heads) {
      if (x < hx || x > hx + wide || y < hy || y > hy + high) continue;
      for (const node of this.groups[group]) {
        const [bx, by] = this.boxes[node];
        if (x < bx || x > bx + this.boxWidth || y < by || y > by + this.boxHeight) continue;
        const column = Math.floor((x - bx - 2) / this.size);
        const row = Math.floor((y - by - 2 - (this.named ? NAME : 0)) / this.size);
        const inside = column >= 0 && column < this.columns && row >= 0 && row < this.rows;
        return [node, inside ? row * this.columns + column : -1];
      }
    }
    return null;
  }

  gangAt(node, slot) {
    const taken = (this.frame.parts || {})[node];
    const parts = taken ? partsOf(this.frame.nodes[node], taken, this.view).get(slot) : undefined;
    if (parts) return parts[(parts.findIndex((part) => part[0] === this.lit) + 1) % parts.length][0];
    const slots = this.slots[node] || slotsOf(this.frame.nodes[node], this.cells[node] || [], this.view);
    const over = slot >= slots.first ? slots.over[slot - slots.first] : undefined;
    const found = over || slots.base[slot];
    return found ? found[0] : -1;
  }

  point(event) {
    const found = this.at(event);
    this.canvas.style.cursor = found && this.gangAt(...found) >= 0 ? "pointer" : "default";
    if (found) this.onNode(found[0], this);
  }

  click(event) {
    const found = this.at(event);
    if (!found) return;
    this.cursor = found[0];
    this.tell(this.gangAt(...found));
    this.soon();
  }

  key(event) {
    if (!this.frame || !this.frame.nodes.length) return;
    if (event.key === "Enter" || event.key === " ") {
      this.step();
    } else {
      const to = this.neighbour(event.key);
      if (to === null) return;
      this.cursor = to;
      this.seen(to);
      this.onNode(to, this);
      this.soon();
    }
    event.preventDefault();
  }

  step() {
    // Enter goes through the gangs of the node.
    if (this.cursor < 0) return;
    const gangs = [...new Set((this.cells[this.cursor] || []).map((cell) => cell[0]))];
    this.tell(gangs.length ? gangs[(gangs.indexOf(this.lit) + 1) % gangs.length] : -1);
  }

  tell(gang) {
    this.onGang(gang < 0 ? "" : this.frame.gangs[gang].name);
  }

  find(name) {
    // Where the gang is, unless a part of it is seen already.
    const gang = this.frame && name ? this.frame.gangs.findIndex((each) => each.name === name) : -1;
    if (gang < 0 || !this.boxes) return;
    const top = this.scroll.scrollTop;
    const nodes = this.cells.flatMap((row, node) => row.some((cell) => cell[0] === gang) ? [node] : []);
    const seen = nodes.some((node) => this.boxes[node][1] >= top && this.boxes[node][1] + this.boxHeight <= top + this.height);
    if (nodes.length && !seen) this.seen(nodes[0]);
  }

  light(name) {
    // Who has no place is nowhere to be lit up, and dims nobody.
    const gang = this.frame && name ? this.frame.gangs.findIndex((each) => each.name === name) : -1;
    this.lit = gang >= 0 && this.cells.some((row) => row.some((cell) => cell[0] === gang)) ? gang : -1;
    this.soon();
  }

  neighbour(key) {
    const order = this.groups.flat(), place = order.indexOf(this.cursor);
    if (key === "Home") return order[0];
    if (key === "End") return order[order.length - 1];
    if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(key)) return null;
    if (place < 0) return order[0];
    if (key === "ArrowLeft") return order[Math.max(0, place - 1)];
    if (key === "ArrowRight") return order[Math.min(order.length - 1, place + 1)];
    const [x, y] = this.boxes[this.cursor], down = key === "ArrowDown";
    let best = this.cursor, least = Infinity;
    for (const node of order) {
      const dy = (this.boxes[node][1] - y) * (down ? 1 : -1);
      if (dy <= 1) continue;
      const far = dy * 3 + Math.abs(this.boxes[node][0] - x);
      if (far < least) { least = far; best = node; }
    }
    return best;
  }

  seen(node) {
    const y = this.boxes[node][1], top = this.scroll.scrollTop;
    if (y < top) this.scroll.scrollTop = y - 20;
    else if (y + this.boxHeight > top + this.height) this.scroll.scrollTop = y + this.boxHeight - this.height + 20;
  }
}
