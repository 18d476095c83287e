import { Button } from "@mantine/core";
import type { Families } from "../address-families.ts";

/** Shown when an A record gets an IPv6 address, or an AAAA record an IPv4 address. */
export function BothFamilies(props: {
  readonly families: Families;
  readonly mayAddBoth: boolean;
  readonly onChangeType: () => void;
  readonly onBoth: () => void;
}) {
  const { isMixed, other, example } = props.families;
  const word = other === "AAAA" ? "IPv6" : "IPv4";
  if (isMixed && !props.mayAddBoth) return null;
  return (
    <div className="note" role="status" style={{ margin: 0 }}>
      <span className="mono breaks">{example}</span> is an {word} address, which needs the type {other}.{" "}
      {isMixed ? (
        <Button size="compact-sm" variant="default" onClick={props.onBoth}>
          Add both: A and AAAA
        </Button>
      ) : (
        <Button size="compact-sm" variant="default" onClick={props.onChangeType}>
          Change the type to {other}
        </Button>
      )}
    </div>
  );
}
