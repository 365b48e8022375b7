// A closer look: what charts show at a moment, and a part of their time, redrawn.
(() => {
  const packed = document.getElementById("readings");
  const done = () => { document.documentElement.dataset.ready = performance.now(); };
  if (!packed || !window.DecompressionStream) return done();
  const SVG = document.querySelector("svg")?.namespaceURI;
  const make = (name, more = {}, ...inside) => {
    const element = document.createElement(name);
    Object.assign(element, more);
    element.append(...inside);
    return element;
  };
  const shape = (name, more) => {
    const element = document.createElementNS(SVG, name);
    for (const key in more) element.setAttribute(key, more[key]);
    return element;
  };
  const said = (number, digits = 4) => number === null || number === undefined ? "nothing"
    : number.toLocaleString("en", {maximumSignificantDigits: digits});
  const steps = (span) => {
    const power = 10 ** Math.floor(Math.log10(span));
    return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= span);
  };

  const ready = (figure, panels) => {
    const first = panels[0];
    const timed = first.kind !== "rows";
    const views = [...figure.querySelectorAll(".panel")].map((element, at) => ({
      ...panels[at], element,
      papers: ["wide", "narrow"].map((paper, which) => ({
        svg: element.querySelector(`.${paper} svg`), box: panels[at].boxes[which],
      })),
    }));
    for (const view of views) {
      if (view.kind !== "strip") continue;
      const width = (view.high - view.low) / view.steps;
      view.moments = Array.from({length: view.steps}, (_, at) => view.low + at * width);
    }
    const active = () => views.filter((view) => !view.element.hidden);
    const state = {from: first.low, to: first.high, at: 0, row: -1};
    const caption = figure.querySelector("figcaption").textContent;

    const range = make("input", {type: "range", min: 0, value: 0});
    range.setAttribute("aria-label", `${timed ? "Moment" : "Row"} of: ${caption}`);
    const output = make("p", {className: "readout"});
    const reader = make("div", {className: "reader"});
    const nodes = make("select");
    nodes.setAttribute("aria-label", `Row of: ${caption}`);
    reader.append(make("label", {}, timed ? "Moment " : "Row ", range));
    if (first.kind === "strip") {
      nodes.add(new Option("all rows", -1));
      first.rows.forEach((name, at) => nodes.add(new Option(name, at)));
      reader.append(make("label", {}, "Row ", nodes));
    }

    // --- what is shown at a place -------------------------------------------------

    const within = () => {
      const moments = active()[0].moments;
      let low = moments.findIndex((moment) => moment > state.from) - 1;
      if (low === -2) low = moments.length - 1;
      let high = moments.findIndex((moment) => moment >= state.to);
      if (high === -1) high = moments.length;
      // The last moment of a line only ends it.
      const end = first.kind === "strip" ? high : Math.min(high, moments.length - 1);
      return [Math.max(0, low), Math.max(Math.max(0, low) + 1, end)];
    };
    const count = (view, at) => {
      const found = new Array(view.names.length).fill(0);
      view.levels.forEach((row) => { found[row[at]] += 1; });
      return view.names.map((name, level) => [found[level], name])
        .filter((pair) => pair[0]).reverse()
        .map((pair, at) => `${pair[0]} ${at ? "" : "rows "}${pair[1]}`).join(", ");
    };
    const words = (view, at, row) => {
      switch (view.kind) {
        case "areas": return view.names.map((name, part) => [name, view.values[part][at]])
          .filter((pair) => pair[1] >= 0.05)
          .map((pair) => `${pair[0]} ${said(pair[1], 3)} %`).join(", ");
        case "lines": return view.names
          .map((name, line) => `${name} ${said(view.values[line][at])}`).join(", ");
        case "strip": return row < 0 ? count(view, at) : view.names[view.levels[row][at]];
        default: return view.texts[at].join("; ") || "nothing";
      }
    };
    const tell = () => {
      const row = state.row;
      const parts = active().map((view) =>
        (view.title ? `${view.title}: ` : "") + words(view, state.at, row));
      let head = timed
        ? `${said(active()[0].moments[state.at], 5)} ${active()[0].unit}`
        : first.rows[state.at];
      if (first.kind === "strip" && row >= 0) head += `, ${first.rows[row]}`;
      if (first.kind === "lines") head += `, ${first.up[2]}`;
      output.replaceChildren(make("b", {textContent: `${head}: `}), parts.join("; "));
      range.setAttribute("aria-valuetext", output.textContent);
      point();
    };
    const point = () => {
      for (const view of active()) for (const {svg, box} of view.papers) {
        const [left, top, width, height] = box;
        let mark = svg.querySelector(".cursor");
        if (!mark) svg.append(mark = shape("rect", {class: "cursor", y: top}));
        if (timed) {
          const moments = view.moments;
          const next = moments[state.at + 1] ?? view.high;
          const middle = (moments[state.at] + Math.min(next, state.to)) / 2;
          const part = (middle - state.from) / (state.to - state.from);
          mark.setAttribute("x", left + width * Math.min(1, Math.max(0, part)) - 0.75);
          mark.setAttribute("width", 1.5);
          mark.setAttribute("height", height);
        } else {
          const each = height / view.rows.length;
          mark.setAttribute("x", left);
          mark.setAttribute("y", top + each * state.at);
          mark.setAttribute("width", width);
          mark.setAttribute("height", each);
        }
      }
    };
    const set = (at) => {
      state.at = at;
      range.value = timed ? at - within()[0] : at;
      tell();
    };
    const bounds = () => {
      const [low, high] = timed ? within() : [0, first.rows.length];
      range.max = high - low - 1;
      state.at = Math.min(high - 1, Math.max(low, state.at));
      range.value = state.at - low;
    };
    range.addEventListener("input", () => {
      state.at = Number(range.value) + (timed ? within()[0] : 0);
      tell();
    });
    nodes.addEventListener("change", () => {
      state.row = Number(nodes.value);
      tell();
    });

    // --- a part of the time --------------------------------------------------------

    const draw = (view, {svg, box}) => {
      svg.querySelector(".closer")?.remove();
      const whole = state.from <= view.low && state.to >= view.high;
      svg.querySelectorAll("[data-k]").forEach((each) => each.classList.toggle("away", !whole));
      if (whole) return;
      const [left, top, width, height, all] = box;
      const x = (moment) => width * (moment - state.from) / (state.to - state.from);
      const group = shape("g", {class: "closer", transform: `translate(${left},${top})`});
      const inside = shape("svg", {width, height, overflow: "hidden"});
      const each = steps((state.to - state.from) / (all < 600 ? 4 : 7));
      for (let at = Math.ceil(state.from / each) * each; at <= state.to; at += each) {
        inside.append(shape("rect", {x: x(at), width: 1, height, fill: "#e4e9ee"}));
        const label = shape("text", {
          x: x(at), y: height + 18, fill: "#1f2328", "font-size": 12, "text-anchor": "middle",
        });
        label.textContent = said(Number(at.toPrecision(6)), 6);
        group.append(label);
      }
      const [low, high] = within();
      const short = (number) => Math.round(number * 10) / 10;
      if (view.kind === "strip") {
        const tall = height / view.rows.length;
        const paths = view.names.map(() => "");
        view.levels.forEach((row, at) => {
          for (let begin = low; begin < high;) {
            let end = begin + 1;
            while (end < high && row[end] === row[begin]) end += 1;
            const to = end < view.steps ? view.moments[end] : view.high;
            const from = short(x(view.moments[begin]));
            paths[row[begin]] +=
              `M${from},${short(at * tall)}h${short(x(to) - from)}v${short(0.86 * tall)}H${from}Z`;
            begin = end;
          }
        });
        paths.forEach((d, at) => d && inside.append(shape("path", {d, fill: view.colours[at]})));
      } else {
        const [bottom, most] = view.up;
        const y = (value) => height * (1 - (value - bottom) / (most - bottom));
        const from = Math.max(0, low - 1);
        const to = Math.min(view.moments.length, high + 2);
        // Each value lasts to the next moment.
        const line = (values) => {
          let d = "";
          for (let at = from; at < to; at += 1) {
            if (values[at] === null) continue;
            const joined = at > from && values[at - 1] !== null;
            d += joined ? `H${short(x(view.moments[at]))}V${short(y(values[at]))}`
              : `M${short(x(view.moments[at]))},${short(y(values[at]))}`;
          }
          return d;
        };
        if (view.kind === "lines") {
          view.values.forEach((values, at) => inside.append(shape("path", {
            d: line(values), fill: "none", stroke: view.colours[at], "stroke-width": 2,
            "stroke-dasharray": view.dashes[at].replace("1 0", "none"),
          })));
        } else {
          let below = view.moments.map(() => 0);
          view.values.forEach((values, at) => {
            const above = below.map((value, moment) => value + values[moment]);
            let d = line(above);
            for (let back = to - 1; back > from; back -= 1) {
              d += `${back === to - 1 ? "L" : "H"}${short(x(view.moments[back]))}`
                + `${back === to - 1 ? `,${short(y(below[back]))}` : ""}V${short(y(below[back - 1]))}`;
            }
            d += `H${short(x(view.moments[from]))}Z`;
            inside.append(shape("path", {d, fill: view.colours[at]}));
            below = above;
          });
        }
      }
      group.append(inside);
      svg.append(group);
      const cursor = svg.querySelector(".cursor");
      if (cursor) svg.append(cursor);
    };
    const fields = ["from", "to"].map((name) => {
      const field = make("input", {type: "number", step: "any"});
      field.addEventListener("change", () => {
        const value = field.valueAsNumber;
        const other = {...state, [name]: value};
        if (Number.isFinite(value) && other.to > other.from) look(other.from, other.to);
        else show();
      });
      return field;
    });
    const unit = make("span");
    const show = () => {
      unit.textContent = active()[0].unit;
      fields.forEach((field, at) => {
        field.value = Number((at ? state.to : state.from).toPrecision(5));
      });
    };
    const look = (from, to) => {
      const {low, high, moments} = active()[0];
      const least = Math.max((high - low) / moments.length * 4, (high - low) / 1e4);
      const span = Math.min(high - low, Math.max(least, to - from));
      state.from = Math.min(high - span, Math.max(low, from));
      state.to = state.from + span;
      show();
      bounds();
      for (const view of active()) view.papers.forEach((paper) => draw(view, paper));
      tell();
    };
    const zoom = (factor) => () => {
      const {low, high} = active()[0];
      const moment = active()[0].moments[state.at];
      const middle = factor < 1 ? moment : (state.from + state.to) / 2;
      const half = (state.to - state.from) * factor / 2;
      look(Math.max(low, middle - half), Math.min(high, middle + half));
    };
    const move = (part) => () => {
      const by = (state.to - state.from) * part;
      look(state.from + by, state.to + by);
    };
    const all = () => look(active()[0].low, active()[0].high);
    if (timed) {
      const row = make("div", {className: "window"},
        make("label", {}, "From ", fields[0]), make("label", {}, "to ", fields[1]),
        unit);
      for (const [text, act] of [["Closer", zoom(0.5)], ["Wider", zoom(2)],
        ["Earlier", move(-0.5)], ["Later", move(0.5)], ["All", all]]) {
        const button = make("button", {type: "button", textContent: text});
        button.addEventListener("click", act);
        row.append(button);
      }
      const inner = make("details", {className: "looking"},
        make("summary", {textContent: `A part of the time: ${caption}`}), row);
      reader.append(inner);
    }
    figure.querySelector(".chooser select")?.addEventListener("change", () => {
      state.at = 0;
      if (timed) all();
    });

    // --- by pointer ----------------------------------------------------------------

    let held = null;
    const place = (view, event) => {
      const found = view.papers.find(({svg}) => svg.getClientRects().length);
      if (!found) return null;
      const rect = found.svg.getBoundingClientRect();
      const [left, top, width, height, wide] = found.box;
      const scale = wide / rect.width;
      return [((event.clientX - rect.left) * scale - left) / width,
        ((event.clientY - rect.top) * scale - top) / height];
    };
    for (const view of views) {
      const drawing = view.element.querySelector(".drawing");
      const hover = (event) => {
        const at = place(view, event);
        if (!at || at[0] < 0 || at[0] > 1 || at[1] < 0 || at[1] > 1) return;
        if (!timed) return set(Math.min(first.rows.length - 1, Math.floor(at[1] * first.rows.length)));
        if (view.kind === "strip" && Number(nodes.value) < 0) {
          state.row = Math.min(view.rows.length - 1, Math.floor(at[1] * view.rows.length));
        }
        const moment = state.from + at[0] * (state.to - state.from);
        const [low, high] = within();
        let found = low;
        while (found + 1 < high && view.moments[found + 1] <= moment) found += 1;
        set(found);
      };
      drawing.addEventListener("pointermove", hover);
      drawing.addEventListener("pointerdown", (event) => {
        hover(event);
        const at = place(view, event);
        held = timed && event.pointerType === "mouse" && !event.button && at ? at[0] : null;
        if (held !== null) event.preventDefault();
      });
      drawing.addEventListener("pointerup", (event) => {
        const at = place(view, event);
        const begun = held;
        held = null;
        if (begun === null || !at || Math.abs(at[0] - begun) < 0.02) return;
        const moments = [begun, at[0]].sort((a, b) => a - b).map((part) =>
          state.from + Math.min(1, Math.max(0, part)) * (state.to - state.from));
        look(...moments);
      });
      drawing.addEventListener("dblclick", () => timed && all());
      drawing.addEventListener("pointerleave", () => {
        held = null;
        state.row = Number(nodes.value);
      });
    }
    reader.append(output);
    (figure.querySelector(".chooser") || figure.querySelector(".panel")).before(reader);
    figure.querySelector(".chooser")?.after(reader);
    if (timed) show();
    bounds();
    output.textContent = timed
      ? "Point at a chart, or move along it with the keys; a part that is drawn over is looked at closer."
      : "Point at a row, or move along the rows with the keys.";
  };

  const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  new Response(stream).json().then((found) => {
    for (const name in found) ready(document.getElementById(name), found[name]);
    done();
  });
})();
