import type { ComponentProps } from "react";

type Props = ComponentProps<"button"> & { readonly "data-loading"?: boolean };

/**
 * The element of every button. The component library disables a button that is loading, and a disabled button loses
 * the focus: this one keeps it, and only ignores what is pressed.
 */
export function StayingButton({ disabled, type, onClick, ...props }: Props) {
  const isLoading = props["data-loading"] === true;
  return (
    <button
      {...props}
      type={type === "submit" ? "submit" : "button"}
      disabled={disabled === true && !isLoading}
      aria-disabled={isLoading || undefined}
      onClick={(event) => (isLoading ? event.preventDefault() : onClick?.(event))}
    />
  );
}
