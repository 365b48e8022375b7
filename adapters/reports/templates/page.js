"use strict";
(() => {
  const value = (row, at) => {
    const cell = row.cells[at];
    return "key" in cell.dataset ? Number(cell.dataset.key) : cell.textContent;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      : typeof a === typeof b ? String(a).localeCompare(String(b), "en", {numeric: true})
      : typeof a === "number" ? -1 : 1;
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const first = head.classList.contains("right") ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const order = head.getAttribute("aria-sort") === first ? other : first;
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [value(row, at), row]);
        rows.sort((a, b) => {
          // What has no number stays below what has one, in either order.
          const mixed = typeof a[0] !== typeof b[0];
          return mixed ? compare(a[0], b[0]) : sign * compare(a[0], b[0]);
        });
        body.append(...rows.map((pair) => pair[1]));
      });
    });
  }
  for (const figure of document.querySelectorAll("figure.choice")) {
    const panels = [...figure.querySelectorAll(".panel")];
    const groups = [...new Set(panels.map((panel) => panel.dataset.group))];
    if (groups.length < 2) continue;
    const label = document.createElement("label");
    const select = document.createElement("select");
    label.className = "chooser";
    label.append(figure.dataset.choice + " ", select);
    groups.forEach((group) => select.add(new Option(group)));
    const show = () => panels.forEach((panel) => {
      panel.hidden = panel.dataset.group !== groups[select.selectedIndex];
    });
    select.addEventListener("change", show);
    panels[0].before(label);
    show();
  }
  const save = document.getElementById("save");
  const results = document.getElementById("results");
  if (save && results) {
    save.hidden = false;
    save.addEventListener("click", () => {
      const text = JSON.stringify(JSON.parse(results.textContent), null, 1);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
      link.download = "results.json";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
})();
