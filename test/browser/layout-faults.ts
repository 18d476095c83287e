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
  const scrolls = (element) =>
    element === root
      ? getComputedStyle(document.body).overflowY !== "hidden" && root.scrollHeight > root.clientHeight
      : ["auto", "scroll"].includes(getComputedStyle(element).overflowY) && element.scrollHeight > element.clientHeight;
  const dialog = document.querySelector("[role=dialog]");
  const areas = (dialog ? [dialog, ...dialog.querySelectorAll("*")] : [root, ...document.body.querySelectorAll("*")]).filter(scrolls);
  if (areas.length > 1) faults.push("scroll areas: " + areas.map(name).join(", "));
  const rows = [...document.querySelectorAll(".set-row[aria-rowindex]")].map((row) => row.getBoundingClientRect());
  const isOver = ({ top }, i) => i > 0 && top < rows[i - 1].bottom - 2;
  if (rows.some(isOver)) faults.push("rows overlap");
  return faults;
})()`;
