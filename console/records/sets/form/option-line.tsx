/** An entry of a list: what is chosen, and what it means. */
export const OptionLine = ({ value, means }: { readonly value: string; readonly means: string }) => (
  <span>
    <span className="mono">{value}</span> <span className="quiet">{means}</span>
  </span>
);
