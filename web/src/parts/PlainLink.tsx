import { useRouter } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, MouseEvent } from 'react';

interface Props extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** An address of the console. */
  href: string;
}

/** A click that the browser itself is not to follow: one with a modifier key opens a tab or a window. */
export function isPlainClick(event: MouseEvent): boolean {
  return !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

/** A link for long lists: unlike a Link it does not look at every step whether one is there already, and its address costs nothing to make. */
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
