import { Link } from '@tanstack/react-router';
import { jobPlaceOf } from '../lib/jobPlace.ts';
import classes from './JobName.module.css';
import { PlainText } from './PlainText.tsx';

interface Props {
  job: string;
  title: string | undefined;
  /** Links to this run instead of the job. */
  run?: string | undefined;
  className?: string | undefined;
  label?: string;
}

/** A link with the job's title, or its name. */
export function JobLink({ job, title, run, className, label }: Props) {
  const text = title ? <PlainText>{title}</PlainText> : job;
  const rest = { className, title: title ? job : undefined, 'aria-label': label };
  if (run !== undefined) return <Link to="/runs/$id" params={{ id: run }} {...rest}>{text}</Link>;
  const { name, search } = jobPlaceOf(job);
  return <Link to="/jobs/$name" params={{ name }} search={search} {...rest}>{text}</Link>;
}

/** The same with the name below the title. */
export function JobName(props: Props) {
  if (!props.title) return <JobLink {...props} />;
  return (
    <span className={classes.lines}>
      <JobLink {...props} />
      <span className={classes.name}>{props.job}</span>
    </span>
  );
}
