# Compile the properties of this folder, and prove them.
package Proofs;
use strict;
use warnings FATAL => 'all';

use File::Basename;

# CBMC 6 has some of these checks by default, and others only if it is told so.
my @checks = qw(--unwinding-assertions --bounds-check --pointer-check --pointer-overflow-check
  --signed-overflow-check --undefined-shift-check --div-by-zero-check --slice-formula);

# Seconds of processor time after which a proof ends without a verdict.
my $limit = 200;

# new ROOT, FOLDER: prove properties of the code below ROOT, and create files in FOLDER.
sub new
{
	my ($class, $root, $folder) = @_;
	my $self = bless { root => $root, folder => $folder }, $class;

	# CBMC has no option for options of a solver, so --integers lets it find this program instead
	chomp(my $cvc5 = `sh -c 'command -v cvc5'`);
	mkdir "$folder/integers" or die "$folder/integers: $!";
	content("$folder/integers/cvc5", "#!/bin/sh\nexec $cvc5 --solve-bv-as-int=sum \"\$@\"\n");
	chmod 0755, "$folder/integers/cvc5";
	return $self;
}

sub content
{
	my ($path, $text) = @_;

	open my $file, defined $text ? '>' : '<', $path or die "$path: $!";
	if (defined $text)
	{
		print $file $text;
		close $file or die "$path: $!";
		return;
	}
	local $/;
	return <$file>;
}

# Replace texts in the only one of some files that contains the first text.  A text that this file does not
# contain exactly once is an error, so that no edit is lost.  Return the file's path and former content.
sub edit
{
	my ($paths, @replacements) = @_;
	my @found = grep { index(content($_), $replacements[0]) >= 0 } @$paths;

	die scalar(@found) . " files contain: $replacements[0]" if @found != 1;
	my $content = my $edited = content($found[0]);
	while (my ($from, $to) = splice @replacements, 0, 2)
	{
		my @parts = split /\Q$from\E/, $edited, -1;
		die "$found[0] contains $#parts times: $from" if @parts != 2;
		$edited = join $to, @parts;
	}
	content($found[0], $edited);
	return ($found[0], $content);
}

# Return the files of properties, without their extension.
sub files
{
	my $self = shift;

	return map { basename($_, '.c') } sort glob "$self->{root}/test/proofs/*.c";
}

# Return the properties of a file in their order: pairs of a name and its options.
sub properties
{
	my ($self, $file) = @_;
	my $text = content("$self->{root}/test/proofs/$file.c");
	my @found;

	while ($text =~ m{(?:\[([^\[\]]*)\]\s*\*/\n)?^PROPERTY\((\w+)\)$}mg)
	{
		push @found, [ $2, join ' ', split /[\s*]+/, $1 // '' ];
	}
	return @found;
}

sub run
{
	my $command = shift;
	my $output = `$command 2>&1`;

	die "$command: $output" if $?;
	return $output;
}

# Compile a file for CBMC.
sub compile
{
	my ($self, $file) = @_;

	run("goto-cc -std=gnu11 -Wall -Wextra -Werror -I$self->{root}/src/core -o $self->{folder}/$file.goto $self->{root}/test/proofs/$file.c");
}

# Return the processor time of the programs that have been run.  Unlike the time that elapses, it
# does not depend on what else the machine does.
sub seconds
{
	my (undef, undef, $user, $system) = times;

	return $user + $system;
}

# Decide a property of a compiled file.  Return whether it holds, what fails otherwise, and the
# seconds of processor time.
sub decide
{
	my ($self, $file, $name, $options) = @_;
	my $program = "$self->{folder}/$file.goto";
	my $begin = seconds();
	my $path = '';

	$options .= ' --unsigned-overflow-check' if $options !~ s/--wraps//;
	$path = "PATH=$self->{folder}/integers:\$PATH" if $options =~ s/--integers/--cvc5/;
	my $output = `ulimit -t $limit; $path cbmc $program --function $name @checks $options 2>&1`;
	my $verdict = $output =~ /^VERIFICATION (SUCCESSFUL|FAILED)$/m ? $1 : "no verdict: $output";

	$output = $verdict eq 'FAILED' ? join('', $output =~ /^(.*: FAILURE\n|Violated property:\n.*\n.*\n)/mg) : $verdict;
	return ($verdict eq 'SUCCESSFUL', $output, seconds() - $begin);
}

# Return the functions of the headers that have a file of properties.
sub core_functions
{
	my $self = shift;

	return map { content("$self->{root}/src/core/$_.h") =~ /^(uuid_\w+)\(/mg } $self->files;
}

# Return the functions of src/core that a property of a compiled file calls, directly or not.
sub reached
{
	my ($self, $file) = @_;
	my $graph = run("goto-instrument --call-graph $self->{folder}/$file.goto");
	my @next = map { $_->[0] } $self->properties($file);
	my (%calls, %reached);

	push @{ $calls{$1} }, $2 while $graph =~ /^(\w+) -> (\w+)$/mg;
	while (defined(my $function = shift @next))
	{
		push @next, @{ $calls{$function} // [] } if !$reached{$function}++;
	}
	return keys %reached;
}

1;
