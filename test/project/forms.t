# The issue forms are valid, and their links and those of CITATION.cff lead to what exists.
# GitHub shows no form at all if one of these rules is broken.
use CPAN::Meta::YAML;
use FindBin;
use JSON::PP;
use lib $FindBin::Bin;
use Project;

my $address = decode_json(slurp('META.json'))->{resources}{homepage};

# the keys of each type of element, and those that it requires
my %attributes = (
	markdown => [ ['value'], [] ],
	input => [ ['label'], [ 'description', 'placeholder', 'value' ] ],
	textarea => [ ['label'], [ 'description', 'placeholder', 'value', 'render' ] ],
	dropdown => [ [ 'label', 'options' ], [ 'description', 'multiple', 'default' ] ],
	checkboxes => [ [ 'label', 'options' ], ['description'] ]);

# Return which keys of a hash are missing or unknown.
sub wrong_keys
{
	my ($hash, $required, $optional) = @_;
	return (map({ "no $_" } grep { !defined $hash->{$_} || $hash->{$_} eq '' } @$required),
		grep { my $key = $_; !grep { $_ eq $key } @$required, @$optional } sort keys %$hash);
}

my @forms = grep { !m{/config\.yml$} } glob '.github/ISSUE_TEMPLATE/*.yml';
cmp_ok(scalar(@forms), '>=', 3, 'there are forms');
my %names;
foreach my $file (@forms)
{
	my ($form) = @{ CPAN::Meta::YAML->read_string(slurp($file)) };
	is_deeply([ wrong_keys($form, [ 'name', 'description', 'body' ], [ 'labels', 'title', 'assignees' ]) ], [], "$file has the keys of a form");
	ok(!$names{ $form->{name} }++, "the name of $file is unique");
	my (@wrong, %ids, %labels);
	foreach my $element (@{ $form->{body} })
	{
		my $type = $attributes{ $element->{type} } or push @wrong, "type $element->{type}" and next;
		push @wrong, wrong_keys($element, [ 'type', 'attributes' ], $element->{type} eq 'markdown' ? [] : [ 'id', 'validations' ]);
		push @wrong, wrong_keys($element->{attributes}, @$type);
		push @wrong, "id $element->{id}" if $element->{id} && ($element->{id} !~ /^[\w-]+$/ || $ids{ $element->{id} }++);
		push @wrong, "label $element->{attributes}{label}" if $element->{attributes}{label} && $labels{ $element->{attributes}{label} }++;
		push @wrong, 'validations' if $element->{validations} && encode_json($element->{validations}) !~ /^\{"required":"(?:true|false)"\}$/;
	}
	is_deeply(\@wrong, [], "the elements of $file are valid");
	cmp_ok(scalar(grep { $_->{type} ne 'markdown' } @{ $form->{body} }), '>', 0, "$file has a field");
}

my ($config) = @{ CPAN::Meta::YAML->read_string(slurp('.github/ISSUE_TEMPLATE/config.yml')) };
is_deeply([ wrong_keys($config, ['contact_links'], ['blank_issues_enabled']), map { wrong_keys($_, [ 'name', 'url', 'about' ], []) } @{ $config->{contact_links} } ], [],
	'config.yml has the keys of GitHub');
my ($help) = map { $_->{url} } @{ $config->{contact_links} };
is($help, "$address/discussions", 'the first link of config.yml leads to where people get help');
like(slurp($_), qr/\(\Q$help\E\)/, "$_ has the same address") foreach 'README.md', 'GOVERNANCE.md';

# Each link to a page of the repository has a file and a heading.
foreach my $file (@forms, '.github/ISSUE_TEMPLATE/config.yml')
{
	my @broken;
	foreach my $link (slurp($file) =~ m{(https://[^\s)]+)}g)
	{
		push @broken, $link and next if index($link, "$address/") != 0;
		my ($path, $anchor) = $link =~ m{/blob/main/([^#]*)(?:#(.*))?$} or next;
		my $page = slurp($path);
		push @broken, $link if !defined $page || defined $anchor && !grep { $anchor eq lc s/[^\w\s-]//gr =~ s/\s/-/gr } $page =~ /^#+ (.*)$/mg;
	}
	is_deeply(\@broken, [], "$file: every link has a target");
}

# Each SQL function that a form names exists.
my %functions = map { $_ => 1 } map { slurp($_) =~ /^CREATE (?:FUNCTION|AGGREGATE) (\w+)/mg } glob 'uuid9562--*.sql';
is_deeply([ grep { !$functions{$_} } map { slurp($_) =~ /\b(uuid\w+)\(/g } @forms ], [], 'the forms name functions that exist');

done_testing();
