# Three calls for a table that changes together with "item", and has the same keys.
package consumers::twin;
use parent -norequire, 'consumers::confirmed';
require consumers::confirmed;

sub table { return 'twin' }

1;
