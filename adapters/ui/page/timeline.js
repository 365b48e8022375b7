// Rounds over time: value, bound, decision time, and a slider to go back.
function drawCurve(rounds, at) {
  const canvas = $("#curve"), width = canvas.clientWidth, height = 64, scale = Math.min(2, window.devicePixelRatio || 1);
  if (!width) return;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  const x = (i) => rounds.length < 2 ? width / 2 : 8 + (width - 16) * i / (rounds.length - 1);
  const most = Math.max(1e-9, ...rounds.map((round) => Math.max(round.value || 0, round.bound || 0)));
  const slow = Math.max(1e-9, ...rounds.map((round) => round.seconds || 0));
  const y = (value) => height - 6 - (height - 14) * value / most;
  const wide = Math.max(1, (width - 16) / Math.max(1, rounds.length) * 0.7);
  pen.fillStyle = theme.line;
  rounds.forEach((round, i) => {
    const high = (height - 14) * 0.5 * (round.seconds || 0) / slow;
    pen.fillRect(x(i) - wide / 2, height - 4 - high, wide, high);
  });
  const line = (key, colour, dash) => {
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.setLineDash(dash);
    pen.beginPath();
    let open = false;
    rounds.forEach((round, i) => {
      if (round[key] === null || round[key] === undefined) { open = false; return; }
      if (open) pen.lineTo(x(i), y(round[key]));
      else {
        // A round between others without a value is seen, too.
        pen.moveTo(x(i) - 3, y(round[key]));
        pen.lineTo(x(i) + 3, y(round[key]));
        pen.moveTo(x(i), y(round[key]));
      }
      open = true;
    });
    pen.stroke();
    pen.setLineDash([]);
  };
  line("bound", theme.ink, [4, 3]);
  line("value", theme.link, []);
  pen.strokeStyle = theme.bad;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(x(at), 2);
  pen.lineTo(x(at), height - 2);
  pen.stroke();
}

function percent(part) {
  return part === null || part === undefined ? "–" : part <= 64 ? `${(100 * part).toFixed(1)} %` : part.toLocaleString("en");
}

function saysRound(round, number, count) {
  const when = typeof round.began === "number" ? new Date(round.began * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC" : "";
  const parts = [round.name || "round", when].filter(Boolean);
  if (count > 1) parts.unshift(`Round ${number + 1} of ${count}`);
  if (round.planned) {
    if (round.tier) parts.push(`${round.tier}: ${percent(round.value)}${round.bound === null || round.bound === undefined ? "" : `, bound ${percent(round.bound)}`}`);
    parts.push(`${starting(round.starts || 0)}, ${does(round.waits || 0, "wait")}`);
    if (round.seconds !== null) parts.push(`decided in ${round.seconds.toFixed(2)} s`);
  } else parts.push("as it is; not planned");
  return parts.join(" · ");
}
