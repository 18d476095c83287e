import { visible } from "../../core/visible-text.ts";

const longestShown = 100;

/**
 * Names and addresses are shown on terminals, so control characters are escaped and long texts cut. Valid ones are not
 * changed.
 */
export function showable(text: string): string {
  const shown = visible(text);
  return shown.length > longestShown ? `${shown.slice(0, longestShown)}…` : shown;
}
