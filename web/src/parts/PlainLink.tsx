import { useRouter } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, MouseEvent } from 'react';

interface Props extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** An address of the console. */
  href: string;
}

/** Clicks with a modifier key open a tab or window and are left to the browser. */
export function isPlainClick(event: MouseEvent): boolean {
  return !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

/**
 * A link for long lists: unlike Link it does not check at every navigation whether it is active, and its address costs
 * nothing.
 */
export function PlainLink({ href, onClick, ...rest }: Props) {
  const router = useRouter();
  const click = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (!isPlainClick(event)) return;
    event.preventDefault();
    router.history.push(href);
  };
  return <a href={href} {...rest} onClick={click} />;
}
