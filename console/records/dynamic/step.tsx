import { Paper, Stack, Title } from "@mantine/core";
import type { ReactNode } from "react";

export function Step(props: {
  readonly number: number;
  readonly title: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const id = `step-${props.number}`;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby={id} className={props.className ?? ""}>
      <Stack gap="sm">
        <Title order={2} id={id}>
          {props.number}. {props.title}
        </Title>
        {props.children}
      </Stack>
    </Paper>
  );
}
