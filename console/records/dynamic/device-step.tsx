import { Radio, TextInput } from "@mantine/core";
import { type Device, deviceNames, isLoopback } from "./device-setups.ts";
import { Step } from "./step.tsx";

export function DeviceStep(props: {
  readonly device: Device;
  readonly onDevice: (device: Device) => void;
  /** The address of this service, as it was typed, and what it means. */
  readonly address: string;
  readonly origin: string | undefined;
  readonly onAddress: (address: string) => void;
  readonly tried: boolean;
}) {
  const { origin, tried } = props;
  return (
    <Step number={2} title="Device">
      <Radio.Group
        label="Which device knows your address?"
        value={props.device}
        onChange={(value) => props.onDevice(value as Device)}
      >
        <div className="boxes devices">
          {deviceNames.map(({ value, label }) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </div>
      </Radio.Group>
      <TextInput
        label="Address of this service, as the device sees it"
        value={props.address}
        onChange={(event) => props.onAddress(event.currentTarget.value)}
        error={tried && origin === undefined && "enter the address of an HTTPS server: https://dns.example.org:8053"}
        autoCapitalize="none"
        spellCheck={false}
        inputMode="url"
      />
      {origin !== undefined && isLoopback(origin) && (
        <p className="note" style={{ margin: 0 }}>
          Only this machine itself can reach {origin}. Enter the name or address by which the device reaches it. If the
          service listens only on this machine, start it with <code className="nowrap">--host</code> or{" "}
          <code className="nowrap">--listen</code>.
        </p>
      )}
    </Step>
  );
}
