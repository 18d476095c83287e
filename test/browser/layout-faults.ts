/** What is wrong with the layout of a page, as the browser measures it; empty if nothing is. */
export const layoutFaults = `(() => {
  const root = document.documentElement;
  const faults = [];
  if (root.scrollWidth > root.clientWidth) faults.push("scrolls sideways by " + (root.scrollWidth - root.clientWidth));
  const name = (element) => element.tagName.toLowerCase() + "." + element.className;
  for (const way of document.querySelectorAll("header :is(a, button), nav a")) {
    const { left, right, width } = way.getBoundingClientRect();
    if (width > 0 && right > 0 && (left < 0 || right > root.clientWidth)) faults.push("cut off: " + way.textContent);
  }
  const header = document.querySelector("header.top");
  if (header && root.clientWidth < 640 && header.offsetHeight > 56) faults.push("header is " + header.offsetHeight + " high");
  const bar = document.querySelector("header .pages");
  const isBelow = bar !== null && getComputedStyle(bar).position === "fixed";
  if (isBelow && !(parseFloat(getComputedStyle(root).scrollPaddingBottom) >= bar.offsetHeight))
    faults.push("what gets the focus can be behind the bar of pages");
  // Pages whose rows scroll in themselves take care of that there.
  const main = document.querySelector("main.main:not(:has(.sets))");
  const toast = document.querySelector(".toasts:not(.empty)");
  if (main && toast && parseFloat(getComputedStyle(root).scrollPaddingBottom) < innerHeight - toast.getBoundingClientRect().top)
    faults.push("what gets the focus can be behind a toast");
  if (main && parseFloat(getComputedStyle(main).paddingBottom) < 64)
    faults.push("a toast can cover the end of the page");
  for (const label of document.querySelectorAll("button .mantine-Button-label"))
    if (label.scrollWidth > label.clientWidth) faults.push("cut off: " + label.textContent);
  const scrolls = (element) =>
    element === root
      ? getComputedStyle(document.body).overflowY !== "hidden" && root.scrollHeight > root.clientHeight
      : ["auto", "scroll"].includes(getComputedStyle(element).overflowY) && element.scrollHeight > element.clientHeight;
  const dialog = document.querySelector("[role=dialog]");
  const areas = (dialog ? [dialog, ...dialog.querySelectorAll("*")] : [root, ...document.body.querySelectorAll("*")]).filter(scrolls);
  if (areas.length > 1) faults.push("scroll areas: " + areas.map(name).join(", "));
  if (dialog && dialog.scrollWidth > dialog.clientWidth) faults.push("the dialog scrolls sideways");
  const rows = [...document.querySelectorAll(".set-row[aria-rowindex]")].map((row) => row.getBoundingClientRect());
  const isOver = ({ top }, i) => i > 0 && top < rows[i - 1].bottom - 2;
  if (rows.some(isOver)) faults.push("rows overlap");
  return faults;
})()`;

/** Of what can be pressed, without links in sentences (WCAG 2.5.8 exempts them), and of the label around a box. */
export const smallTargets = `[...document.querySelectorAll("button, input, .list a, nav a, a.alone")]
  .filter((each) => each.checkVisibility() && !each.closest(".unseen, .skip, [class*=Input-wrapper], [class*=Switch], [class*=Radio]"))
  .map((each) => [each.getAttribute("aria-label") ?? each.textContent, (each.closest("label") ?? each).getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (width < 24 || height < 24))
  .map(([name]) => name)`;

/** Examples in empty fields that are wider than their fields. */
export const cutExamples = `[...document.querySelectorAll("input[placeholder]")]
  .filter((input) => {
    const style = getComputedStyle(input);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return room > 0 && input.placeholder && pen.measureText(input.placeholder).width > room;
  })
  .map((input) => input.placeholder)`;
