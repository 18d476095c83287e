import { Title } from "@mantine/core";
import { useId } from "react";
import type { NameInCondition } from "./condition.ts";
import { MonthLine } from "./month-line.tsx";
import { Addresses, NameLink, Reporter, ToneMark, TroubleOf } from "./name-parts.tsx";

type Props = { readonly names: readonly NameInCondition[]; readonly since: string | null };

/** A card per name: both families, where the address comes from, the last 30 days, and what is wrong. */
export const NameCards = ({ names, since }: Props) => (
  <ul className="name-cards">
    {names.map((each) => (
      <NameCard key={each.name.name} of={each} since={since} />
    ))}
  </ul>
);

function NameCard({
  of: { name, condition },
  since,
}: {
  readonly of: NameInCondition;
  readonly since: Props["since"];
}) {
  const id = useId();
  return (
    <li className={`name-card ${condition.tone}`} aria-labelledby={id}>
      <Title order={2} id={id} className="name-title">
        <ToneMark tone={condition.tone} />
        <NameLink name={name} />
      </Title>
      <Addresses of={name} />
      <p className="reporter">
        <Reporter of={condition} />
      </p>
      <TroubleOf condition={condition} />
      <MonthLine name={name} since={since} />
    </li>
  );
}
