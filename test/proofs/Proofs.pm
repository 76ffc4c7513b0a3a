# Compile the properties of this folder, and prove them.
package Proofs;
use strict;
use warnings FATAL => 'all';

use File::Basename;

# CBMC 6 also checks bounds, pointers, shifts, division by zero, signed overflow, and whether loops
# are unwound far enough, unless it is told not to.
my @checks = qw(--unwinding-assertions --bounds-check --pointer-check --pointer-overflow-check
  --signed-overflow-check --undefined-shift-check --div-by-zero-check);

# new ROOT, FOLDER: prove properties of the code below ROOT, and create files in FOLDER.
sub new
{
	my ($class, $root, $folder) = @_;

	return bless { root => $root, folder => $folder }, $class;
}

sub content
{
	my ($path, $text) = @_;

	open my $file, defined $text ? '>' : '<', $path or die "$path: $!";
	return print $file $text if defined $text;
	local $/;
	return <$file>;
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

	while ($text =~ m{(?:\[([^\[\]]*)\]\s*\*/\n)?^void\n(\w+)\(void\)\n\{}mg)
	{
		push @found, [ $2, $1 // '' ];
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

	run("goto-cc -std=gnu11 -Wall -Wextra -Werror -I$self->{root}/src/core -o $self->{folder}/$file.goto " .
		"$self->{root}/test/proofs/$file.c");
}

# Compile a property that visits all values, and run it.  Linking removes the properties that have
# values that only CBMC can choose.
sub visit
{
	my ($self, $file, $name) = @_;

	content("$self->{folder}/main.c", "extern void $name(void);\n\nint\nmain(void)\n{\n\t$name();\n}\n");
	run("gcc -std=gnu11 -DVISIT -O2 -Wall -Wextra -Werror -Wno-unused-function -fsanitize=undefined -fno-sanitize-recover=all " .
		"-ffunction-sections -Wl,--gc-sections -I$self->{root}/src/core -o $self->{folder}/visit " .
		"$self->{root}/test/proofs/$file.c $self->{folder}/main.c");
	my $output = `$self->{folder}/visit 2>&1`;
	return ($? == 0, $output);
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
	my $begin = seconds();
	my ($holds, $output);

	if ($options =~ /visits all values/)
	{
		($holds, $output) = $self->visit($file, $name);
		$output =~ s/.*?: (.*Assertion)/$1/s;
	}
	else
	{
		$output = `timeout 200 cbmc $self->{folder}/$file.goto --function $name @checks $options 2>&1`;
		my $verdict = $output =~ /^VERIFICATION (SUCCESSFUL|FAILED)$/m ? $1 : "no verdict: $output";
		$holds = $verdict eq 'SUCCESSFUL';
		$output = $verdict eq 'FAILED' ? join('', $output =~ /^(.*: FAILURE\n|Violated property:\n.*\n.*\n)/mg) : $verdict;
	}
	return ($holds, $output, seconds() - $begin);
}

# Return the functions of src/core, except those of key_lines.h, whose loops no solver decided.
sub core_functions
{
	my $self = shift;

	return map { content($_) =~ /^(uuid_\w+)\(/mg } grep { !/key_lines/ } glob "$self->{root}/src/core/*.[ch]";
}

# Return the functions that a property of a compiled file calls, directly or not.
sub reached
{
	my ($self, $file) = @_;
	my %calls;
	my %reached;
	my @next = map { $_->[0] } $self->properties($file);

	my $graph = run("goto-instrument --call-graph $self->{folder}/$file.goto");
	push @{ $calls{$1} }, $2 while $graph =~ /^(\w+) -> (\w+)$/mg;
	while (defined(my $function = shift @next))
	{
		push @next, @{ $calls{$function} // [] } if !$reached{$function}++;
	}
	return keys %reached;
}

1;
