import { linkedParts } from '../lib/linkedText.ts';
import { visible } from '../lib/visible.ts';

/** Text from a user with its web and mail addresses as links. Line breaks are kept by the style of the element around it. */
export function LinkedText({ children }: { children: string }) {
  return (
    <bdi>
      {linkedParts(children).map(({ text, href }, i) =>
        href === undefined ? visible(text) : <a key={i} href={href} target="_blank" rel="noopener noreferrer nofollow">{text}</a>,
      )}
    </bdi>
  );
}
