/**
 * A browser gives the focus to nothing when the element that has it is removed or disabled: the next Tab starts at the
 * top of the page, and a screen reader says nothing. Here it goes to what is nearest to that element, unless the page
 * has put it somewhere by the next frame.
 */
export function keepFocus(): void {
  let path: readonly Element[] = [];
  let isWaiting = false;
  document.addEventListener("focusin", ({ target }) => {
    path = target instanceof Element ? pathOf(target) : [];
  });
  const rescue = () => {
    isWaiting = false;
    if (isLost(path[0])) nearestIn(path)?.focus({ preventScroll: true });
  };
  new MutationObserver(() => {
    if (isWaiting || !isLost(path[0])) return;
    isWaiting = true;
    requestAnimationFrame(() => requestAnimationFrame(rescue));
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}

function pathOf(element: Element): readonly Element[] {
  const path = [element];
  for (let each = element.parentElement; each !== null; each = each.parentElement) path.push(each);
  return path;
}

/** A click beside everything takes the focus away too, but from an element that could still have it. */
const isLost = (last: Element | undefined): boolean =>
  last !== undefined &&
  (!last.isConnected || last.matches(":disabled")) &&
  [document.body, last].includes(document.activeElement ?? document.body);

const fields = ":is(input:not([type=hidden]), select, textarea):enabled";
const others = ':is(button:enabled, a[href], summary, [tabindex]):not([tabindex="-1"])';

/**
 * In a form, a field comes before the buttons; elsewhere, whatever is nearest, or a part that can have the focus: what
 * follows comes before what is above. On a new page, its content.
 */
function nearestIn(path: readonly Element[]): HTMLElement | undefined {
  const around = path.filter((each) => each.isConnected && each !== document.body && each !== document.documentElement);
  const inForm = around.slice(0, around.findIndex((each) => each.matches("form")) + 1);
  const places: readonly (readonly [Element, string, (Element | undefined)?])[] = [
    ...inForm.flatMap((each) => [[each, "[data-autofocus]"] as const, [each, fields] as const]),
    ...inForm.slice(-1).map((form) => [form, "[type=submit]:enabled"] as const),
    ...around.map((each, i) => [each, `${fields}, ${others}`, around[i - 1]] as const),
  ];
  for (const [place, what, inner] of places) {
    if (place.querySelector("#content")) break;
    if (place instanceof HTMLElement && place.matches('[tabindex="-1"]')) return place;
    const found = [...place.querySelectorAll<HTMLElement>(what)].filter((each) => each.checkVisibility());
    const next = found.find((each) => inner !== undefined && follows(each, inner)) ?? found[0];
    if (next !== undefined) return next;
  }
  return document.getElementById("content") ?? undefined;
}

const follows = (one: Element, other: Element): boolean =>
  (other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
